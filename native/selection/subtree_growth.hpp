// Grows the sub feature trees of one sentence: rightmost extension, each anchored subtree once.
//
// A subtree has its arcs in pre-order. It grows by a child of its last arc, or by the next sibling of an arc on the path
// to that. The place of a new arc is its depth. A sub feature tree picks one atom for each arc, so for each subtree there
// is a list of entries: the features that are still of interest, with the atoms that were picked.
//
// Two neighbouring arcs (head and child, or adjacent siblings) are features of order 2. A larger feature can be of
// interest only if all its pairs of neighbours are: each such relation keeps a table of the pairs of atoms that are.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "selection/arc_unions.hpp"
#include "selection/growing.hpp"

namespace espalier {

class SubtreeGrowth {
 public:
  explicit SubtreeGrowth(const Growing& growing) : growing_(growing) {}

  // Tells `emit` the key of each feature of an order whose parts may all grow, which of the candidates `wanted` have it,
  // and whether it has a fresh part. A feature comes once for each place in the sentence where it occurs.
  template <class Emit>
  void candidates(const ArcUnion& graph, Mask wanted, int order, std::uint32_t root, Told told, const Emit& emit) {
    const bool only_fresh = told == Told::kFreshOnly;
    if (order == 1) {
      if (only_fresh) return;
      for (std::int32_t arc = 0; arc < graph.n_arcs; ++arc) {
        const Mask mask = graph.mask[arc] & wanted;
        if (!mask) continue;
        for (const std::uint32_t atom : graph.atoms(arc)) emit(feature_key(root, 0, atom), mask, false);
      }
      return;
    }
    begin(graph, wanted, order, 0, root);
    all_pairs_ = order == 2;
    if (only_fresh && all_pairs_ && std::ranges::find(fresh_, true) == fresh_.end()) return;
    const auto finish = [&](int level, const Way& way) {
      each_pick(level, way, only_fresh, [&](const Entry& entry, std::uint32_t atom, std::uint32_t, bool fresh) {
        emit(feature_key(entry.node, place_of(way), atom), way.mask, fresh);
      });
    };
    for (std::int32_t arc = 0; arc < graph.n_arcs; ++arc) {
      const Mask mask = graph.mask[arc] & wanted;
      if (!mask || !n_atoms(arc)) continue;
      plant(arc);
      grow(1, order - 1, mask, finish, [](std::uint32_t, Mask) {});
    }
  }

  // Tells `hit` each feature of the trie that may grow, up to an order, and which of the candidates `wanted` have it,
  // once for each place where it occurs, but for places where exactly the candidates `skipped` have it.
  template <class Hit>
  void hits(const ArcUnion& graph, Mask wanted, int order, Mask skipped, std::uint32_t root, const Hit& hit) {
    begin(graph, wanted, order, skipped, root);
    for (std::int32_t arc = 0; arc < graph.n_arcs; ++arc) {
      const Mask mask = graph.mask[arc] & wanted;
      if (!mask || !n_atoms(arc)) continue;
      depth_ = 1;
      path_[0] = {arc, 0};
      if (!leads(1, mask)) continue;
      plant(arc);
      if (mask != skipped) {
        for (const Entry& entry : levels_[1]) hit(entry.node, mask);
      }
      if (order > 1) grow(1, order, mask, [](int, const Way&) {}, hit);
    }
  }

  // As `candidates` for two of them, but for fresh features, and for features that only occur where both have them; some
  // of those are told, too.
  template <class Emit>
  void changes(const ArcUnion& graph, Mask both, int order, std::uint32_t root, const Emit& emit) {
    if (order == 1) {
      candidates(graph, both, 1, root, Told::kAll, [&](std::uint64_t key, Mask mask, bool) { emit(key, mask); });
      return;
    }
    reached_.make_room(growing_.trie->size());
    reached_atoms_.make_room(growing_.n_atoms);
    begin(graph, both, order, both, root);
    all_pairs_ = order == 2;
    is_marking_ = true;
    const auto finish = [&](int level, const Way& way) {
      if (way.mask == both) return;
      mark_atoms(way.arc);
      each_pick(level, way, false, [&](const Entry& entry, std::uint32_t atom, std::uint32_t, bool fresh) {
        if (!fresh) emit(feature_key(entry.node, place_of(way), atom), way.mask);
      });
    };
    for (std::int32_t arc = 0; arc < graph.n_arcs; ++arc) {
      const Mask mask = graph.mask[arc] & both;
      if (!mask || !n_atoms(arc)) continue;
      depth_ = 1;
      path_[0] = {arc, 0};
      if (!leads(1, mask)) continue;
      plant(arc);
      grow(1, order - 1, mask, finish, [](std::uint32_t, Mask) {});
    }
    is_marking_ = false;
    shared_.resize(kMostOrder + 1);
    for (std::int32_t arc = 0; arc < graph.n_arcs; ++arc) {
      if ((graph.mask[arc] & both) != both || !plant_shared(arc)) continue;
      const auto finish_shared = [&](const Way& way) {
        for (int k = atom_start_[way.arc]; k < atom_start_[way.arc + 1]; ++k) {
          if (!reached_atoms_.has(atom_[k])) continue;
          for (const std::uint32_t node : shared_[order - 1]) emit(feature_key(node, place_of(way), atom_[k]), both);
        }
      };
      grow_shared(1, order - 1, finish_shared);
    }
    reached_.clear();
    reached_atoms_.clear();
  }

  // Tells `see` the pairs of atoms, with the place of the second, that must be open for a feature to be reached.
  template <class SeePair>
  static void each_pair(std::span<const std::uint32_t> places, std::span<const std::uint32_t> atoms,
                        const SeePair& see) {
    for (std::size_t k = 1; k < atoms.size(); ++k) {
      bool is_first = true;  // of its siblings
      for (std::size_t other = k; other-- > 0;) {
        if (is_first && places[other] == places[k]) {
          see(atoms[other], 1U, atoms[k]);
          is_first = false;
        }
        if (places[other] + 1 == places[k]) {
          see(atoms[other], 2U, atoms[k]);
          break;
        }
      }
    }
  }

 private:
  struct Entry {
    std::uint32_t node;
    std::array<std::uint16_t, kMostOrder> picked;  // by arc of the subtree, among the atoms that may grow
    bool fresh;
  };
  struct Member {
    std::int32_t arc;
    int position;  // in the subtree
  };
  struct Relation {
    std::int32_t arc, other;
    std::uint32_t place;      // of the other: 2 for a child, 1 for a sibling
    std::int64_t bits, node;  // where the rows of its table begin; -1 before it is made
  };
  struct Way {
    std::int32_t arc;
    int depth;
    Mask mask;
    int near, above;                     // positions of its neighbours in the subtree; `above` may be -1
    std::int64_t with_near, with_above;  // the relations to them
  };
  struct Kept {
    int depth;
    Member member;
  };

  static std::uint32_t place_of(const Way& way) { return static_cast<std::uint32_t>(way.depth); }
  int n_atoms(std::int32_t arc) const { return atom_start_[arc + 1] - atom_start_[arc]; }

  void begin(const ArcUnion& graph, Mask wanted, int order, Mask skipped, std::uint32_t root) {
    graph_ = &graph;
    order_ = order;
    skipped_ = skipped;
    all_pairs_ = false;
    levels_.resize(kMostOrder + 1);
    ways_.resize(kMostOrder + 1);
    ahead_.resize(kMostOrder + 1);
    atom_.clear();
    node_.clear();
    fresh_.clear();
    relations_.clear();
    down_.clear();
    bits_.clear();
    fresh_bits_.clear();
    pair_.clear();
    atom_start_.assign(1, 0);
    for (std::int32_t arc = 0; arc < graph.n_arcs; ++arc) {
      if (graph.mask[arc] & wanted) {
        for (const std::uint32_t atom : graph.atoms(arc)) {
          const std::uint32_t node = growing_.first_of(root, atom);
          if (node == kNoFeature) continue;
          atom_.push_back(atom);
          node_.push_back(node);
          fresh_.push_back(growing_.is_fresh(node));
        }
      }
      atom_start_.push_back(static_cast<std::int32_t>(atom_.size()));
    }
    for (std::int32_t arc = 0; arc < graph.n_arcs; ++arc) {
      down_.push_back(std::ssize(relations_));
      const std::int32_t child = graph.modifier[arc];
      for (std::int32_t below = graph.first_of_head[child]; below < graph.first_of_head[child + 1]; ++below) {
        relations_.push_back({arc, below, 2, -1, -1});
      }
    }
    right_ = std::ssize(relations_);
    for (std::int32_t arc = 0; arc < graph.n_arcs; ++arc) {
      for (std::int64_t k = graph.next_start[arc]; k < graph.next_start[arc + 1]; ++k) {
        relations_.push_back({arc, graph.next_arc[k], 1, -1, -1});
      }
    }
  }

  void plant(std::int32_t arc) {
    auto& entries = levels_[1];
    entries.clear();
    for (int k = 0; k < n_atoms(arc); ++k) {
      entries.push_back({node_[atom_start_[arc] + k], {}, fresh_[atom_start_[arc] + k] != 0});
      entries.back().picked[0] = static_cast<std::uint16_t>(k);
    }
    depth_ = 1;
    path_[0] = {arc, 0};
    if (is_marking_) mark(1, arc);
  }

  // Begins with the atoms of an arc that were reached where candidates differ; whether there are any.
  bool plant_shared(std::int32_t arc) {
    auto& nodes = shared_[1];
    nodes.clear();
    for (int k = atom_start_[arc]; k < atom_start_[arc + 1]; ++k) {
      if (reached_.has(node_[k])) nodes.push_back(node_[k]);
    }
    depth_ = 1;
    path_[0] = {arc, 0};
    return !nodes.empty();
  }

  // Notes what was reached where candidates differ.
  void mark(int level, std::int32_t arc) {
    for (const Entry& entry : levels_[level]) reached_.set(entry.node);
    mark_atoms(arc);
  }
  void mark_atoms(std::int32_t arc) {
    for (int k = atom_start_[arc]; k < atom_start_[arc + 1]; ++k) reached_atoms_.set(atom_[k]);
  }

  // Grows features where all candidates have them, as far as they were reached elsewhere. What was reached has parts that
  // may grow, so its pairs need not be looked at.
  template <class Finish>
  void grow_shared(int level, int top, const Finish& finish) {
    const FeatureTrie& trie = *growing_.trie;
    auto& ways = ways_[level];
    find_ways(skipped_, ways);
    for (const Way& way : ways) {
      if (way.mask != skipped_) continue;
      if (level == top) {
        finish(way);
        continue;
      }
      wanted_.clear();
      wanted_hash_.clear();
      for (int k = atom_start_[way.arc]; k < atom_start_[way.arc + 1]; ++k) {
        if (!reached_atoms_.has(atom_[k])) continue;
        for (const std::uint32_t node : shared_[level]) {
          wanted_.push_back(feature_key(node, place_of(way), atom_[k]));
          wanted_hash_.push_back(FeatureTrie::hash_of(wanted_.back()));
          trie.prefetch_bits(wanted_hash_.back());
        }
      }
      likely_.clear();
      for (std::size_t k = 0; k < wanted_.size(); ++k) {
        if (!trie.may_have(wanted_hash_[k])) continue;
        trie.prefetch_slot(wanted_hash_[k]);
        likely_.push_back(static_cast<int>(k));
      }
      auto& nodes = shared_[level + 1];
      nodes.clear();
      for (const int k : likely_) {
        const std::uint32_t node = trie.find(wanted_[k], wanted_hash_[k]);
        if (node == kNoFeature || !reached_.has(node)) continue;
        nodes.push_back(node);
      }
      if (nodes.empty()) continue;
      const Kept kept = step(way, level);
      grow_shared(level + 1, top, finish);
      restore(kept);
    }
    wanted_.clear();
  }

  // All ways to grow the subtree whose path is kept.
  void find_ways(Mask mask, std::vector<Way>& out) const {
    out.clear();
    const ArcUnion& graph = *graph_;
    const auto [last, at] = path_[depth_ - 1];
    const std::int32_t child = graph.modifier[last], first = graph.first_of_head[child];
    for (std::int32_t arc = first; arc < graph.first_of_head[child + 1]; ++arc) {
      const Mask both = mask & graph.mask[arc];
      if (both && n_atoms(arc)) out.push_back({arc, depth_ + 1, both, at, -1, down_[last] + arc - first, -1});
    }
    for (int d = depth_; d >= 1; --d) {
      const auto [arc, position] = path_[d - 1];
      for (std::int64_t k = graph.next_start[arc]; k < graph.next_start[arc + 1]; ++k) {
        const std::int32_t next = graph.next_arc[k];
        const Mask both = mask & graph.next_mask[k];
        if (!both || !n_atoms(next)) continue;
        Way way{next, d, both, position, -1, right_ + k, -1};
        if (d > 1) {
          const auto [head, above] = path_[d - 2];
          way.above = above;
          way.with_above = down_[head] + next - graph.first_of_head[graph.modifier[head]];
        }
        out.push_back(way);
      }
    }
  }

  // Moves the end of the path to a new arc.
  Kept step(const Way& way, int position) {
    const Kept kept{depth_, path_[way.depth - 1]};
    depth_ = way.depth;
    path_[depth_ - 1] = {way.arc, position};
    return kept;
  }
  void restore(const Kept& kept) {
    path_[depth_ - 1] = kept.member;
    depth_ = kept.depth;
  }

  // Whether the subtree, or one that grows from it, is told of. What all candidates have need not be looked at.
  bool leads(int level, Mask mask) {
    if (mask != skipped_) return true;
    if (level >= order_) return false;
    auto& ways = ahead_[level];
    find_ways(mask, ways);
    for (const Way& way : ways) {
      if (way.mask != skipped_) return true;
    }
    if (level + 1 >= order_) return false;
    for (const Way& way : ways) {
      const Kept kept = step(way, level);
      const bool found = leads(level + 1, way.mask);
      restore(kept);
      if (found) return true;
    }
    return false;
  }

  // Grows the subtree of a level up to level `top`, and hands all ways to grow from there to `finish`.
  template <class Finish, class Hit>
  void grow(int level, int top, Mask mask, const Finish& finish, const Hit& hit) {
    auto& ways = ways_[level];
    find_ways(mask, ways);
    for (const Way& way : ways) {
      if (level == top) {
        finish(level, way);
        continue;
      }
      const Kept kept = step(way, level);
      if (leads(level + 1, way.mask)) {
        fill(level, way);
        if (is_marking_) mark(level + 1, way.arc);
        if (way.mask != skipped_) {
          for (const Entry& entry : levels_[level + 1]) hit(entry.node, way.mask);
        }
        if (!levels_[level + 1].empty() && level + 1 < order_) grow(level + 1, top, way.mask, finish, hit);
      }
      restore(kept);
    }
  }

  // The entries of the next level: those of this one with each atom of the new arc, as far as they may grow.
  void fill(int level, const Way& way) {
    auto& grown = levels_[level + 1];
    grown.clear();
    const auto add = [&](const Entry& entry, std::uint32_t node, std::uint32_t k, bool fresh) {
      grown.push_back({node, entry.picked, fresh});
      grown.back().picked[level] = static_cast<std::uint16_t>(k);
    };
    if (level == 1) {
      const Relation& relation = with_table(way.with_near);
      const std::uint32_t* pair = pair_.data() + relation.node;
      const int n = n_atoms(way.arc);
      each_pick(level, way, false, [&](const Entry& entry, std::uint32_t, std::uint32_t k, bool fresh) {
        add(entry, pair[entry.picked[0] * n + static_cast<int>(k)], k, fresh);
      });
      return;
    }
    const FeatureTrie& trie = *growing_.trie;
    wanted_hash_.clear();
    each_pick(level, way, false, [&](const Entry& entry, std::uint32_t atom, std::uint32_t k, bool fresh) {
      const std::uint64_t key = feature_key(entry.node, place_of(way), atom);
      wanted_hash_.push_back(FeatureTrie::hash_of(key));
      trie.prefetch_bits(wanted_hash_.back());
      add(entry, 0, k, fresh);
      wanted_.push_back(key);
    });
    likely_.clear();
    for (std::size_t k = 0; k < grown.size(); ++k) {
      if (!trie.may_have(wanted_hash_[k])) continue;
      trie.prefetch_slot(wanted_hash_[k]);
      likely_.push_back(static_cast<int>(k));
    }
    std::size_t n_kept = 0;
    for (const int k : likely_) {
      const std::uint32_t node = trie.find(wanted_[k], wanted_hash_[k]);
      if (node == kNoFeature || !growing_.open[node]) continue;
      grown[n_kept] = grown[k];
      grown[n_kept].fresh |= growing_.is_fresh(node);
      grown[n_kept++].node = node;
    }
    grown.resize(n_kept);
    wanted_.clear();
  }

  // For each entry, the atoms of the new arc that go with those of its neighbours, their places in its list, and whether
  // a part of what grows is fresh.
  template <class Take>
  void each_pick(int level, const Way& way, bool only_fresh, const Take& take) {
    const std::uint32_t* atom = atom_.data() + atom_start_[way.arc];
    const int n = n_atoms(way.arc), n_words = (n + 63) / 64;
    if (all_pairs_) {  // their keys are wanted, not what is known of them
      const std::uint8_t* fresh = fresh_.data() + atom_start_[way.arc];
      for (const Entry& entry : levels_[1]) {
        for (int k = 0; k < n; ++k) {
          const bool either = entry.fresh || fresh[k];
          if (either || !only_fresh) take(entry, atom[k], static_cast<std::uint32_t>(k), either);
        }
      }
      return;
    }
    if (way.above >= 0) with_table(way.with_above);  // made first: tables move while others are made
    const std::int64_t near = with_table(way.with_near).bits;
    const std::int64_t above = way.above < 0 ? -1 : relations_[way.with_above].bits;
    for (const Entry& entry : levels_[level]) {
      const std::int64_t row = near + entry.picked[way.near] * n_words;
      const std::int64_t other = above < 0 ? row : above + entry.picked[way.above] * n_words;
      for (int word = 0; word < n_words; ++word) {
        const std::uint64_t fresh =
            entry.fresh ? ~std::uint64_t{0} : fresh_bits_[row + word] | fresh_bits_[other + word];
        std::uint64_t bits = bits_[row + word] & bits_[other + word];
        if (only_fresh) bits &= fresh;
        for (; bits; bits &= bits - 1) {
          const int bit = std::countr_zero(bits), k = 64 * word + bit;
          take(entry, atom[k], static_cast<std::uint32_t>(k), (fresh >> bit & 1) != 0);
        }
      }
    }
  }

  // The relation with its table: for each pair of atoms its feature of order 2, and a bit if that may grow.
  const Relation& with_table(std::int64_t number) {
    Relation& relation = relations_[number];
    if (relation.bits >= 0) return relation;
    relation.bits = std::ssize(bits_);
    relation.node = std::ssize(pair_);
    const FeatureTrie& trie = *growing_.trie;
    const int rows = n_atoms(relation.arc), n = n_atoms(relation.other), n_words = (n + 63) / 64;
    bits_.resize(bits_.size() + static_cast<std::size_t>(rows) * n_words, 0);
    fresh_bits_.resize(bits_.size(), 0);
    pair_.resize(pair_.size() + static_cast<std::size_t>(rows) * n);
    const std::uint32_t* node = node_.data() + atom_start_[relation.arc];
    const std::uint32_t* atom = atom_.data() + atom_start_[relation.other];
    std::uint64_t *bits = bits_.data() + relation.bits, *fresh = fresh_bits_.data() + relation.bits;
    std::uint32_t* pair = pair_.data() + relation.node;
    // All pairs in three rounds, so that what they read arrives while others are looked up.
    hash_.clear();
    for (int i = 0; i < rows; ++i) {
      for (int k = 0; k < n; ++k) {
        hash_.push_back(FeatureTrie::hash_of(feature_key(node[i], relation.place, atom[k])));
        trie.prefetch_bits(hash_.back());
      }
    }
    likely_.clear();
    for (int place = 0; place < rows * n; ++place) {
      pair[place] = kNoFeature;
      if (!trie.may_have(hash_[place])) continue;
      trie.prefetch_slot(hash_[place]);
      likely_.push_back(place);
    }
    for (const int place : likely_) {
      const int i = place / n, k = place % n;
      const std::uint32_t found = trie.find(feature_key(node[i], relation.place, atom[k]), hash_[place]);
      pair[place] = found;
      if (found == kNoFeature || !growing_.open[found]) continue;
      bits[i * n_words + k / 64] |= std::uint64_t{1} << (k % 64);
      if (growing_.is_fresh(found)) fresh[i * n_words + k / 64] |= std::uint64_t{1} << (k % 64);
    }
    return relation;
  }

  Growing growing_;
  const ArcUnion* graph_ = nullptr;
  int order_ = 0;
  Mask skipped_ = 0;
  bool all_pairs_ = false, is_marking_ = false;
  Marks reached_, reached_atoms_;                   // features and atoms
  std::vector<std::vector<std::uint32_t>> shared_;  // by order: features at one place
  std::vector<std::uint32_t> atom_, node_;          // by arc, of the atoms that may grow
  std::vector<std::uint8_t> fresh_;                 // likewise
  std::vector<std::int32_t> atom_start_;
  std::vector<Relation> relations_;
  std::vector<std::int64_t> down_;  // by arc: its first relation to a child
  std::int64_t right_ = 0;          // the first relation to a sibling
  std::vector<std::uint64_t> bits_, fresh_bits_, wanted_, wanted_hash_, hash_;
  std::vector<int> likely_;
  std::vector<std::uint32_t> pair_;
  std::array<Member, kMostOrder + 1> path_{};
  int depth_ = 0;
  std::vector<std::vector<Entry>> levels_;      // by order
  std::vector<std::vector<Way>> ways_, ahead_;  // by order
};

}  // namespace espalier
