// Grows the features of one item whose atoms are one to a position, each feature in one way only.
//
// A set grows by atoms of larger slots, a sequence by later tokens, and a fragment by a production below its last one, or
// below a node on the path to that and further right. The place of an atom in the trie is its depth.
//
// A larger feature can be of interest only if its pairs are: all pairs of a set, neighbours in a sequence, a production
// with the one above it. Positions or pairs that are of no interest are looked up once for an item.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "selection/growing.hpp"
#include "selection/slot_graphs.hpp"

namespace espalier {

class SlotGrowth {
 public:
  explicit SlotGrowth(const Growing& growing) : growing_(growing) {}

  // Tells `emit` the key of each feature of an order whose parts may all grow, which of the candidates `wanted` have it,
  // and whether it has a fresh part. A feature comes once for each place in the item where it occurs.
  template <class Emit>
  void candidates(const SlotGraph& graph, Mask wanted, int order, std::uint32_t root, Told told, const Emit& emit) {
    begin(graph, wanted, order, 0, root);
    const bool only_fresh = told == Told::kFreshOnly;
    if (order == 1) {
      if (only_fresh) return;
      for (std::int32_t p = 0; p < graph.n_starts; ++p) {
        const Mask mask = graph.mask_of(p) & wanted;
        if (mask && graph.atom[p] != kNoFeature) emit(feature_key(root, 0, graph.atom[p]), mask, false);
      }
      return;
    }
    const auto finish = [&](std::uint32_t node, bool is_fresh, const Way& way) {
      const bool fresh = is_fresh || way.fresh;
      if (fresh || !only_fresh) emit(feature_key(node, way.place, graph.atom[way.position]), way.mask, fresh);
    };
    each_start([&](std::int32_t place, std::uint32_t node, Mask mask) {
      start_at(place);
      grow(1, node, growing_.is_fresh(node), mask, order - 1, finish, [](std::uint32_t, Mask) {});
    });
  }

  // Tells `hit` each feature of the trie that may grow, up to an order, and which of the candidates `wanted` have it,
  // once for each place where it occurs, but for places where exactly the candidates `skipped` have it.
  template <class Hit>
  void hits(const SlotGraph& graph, Mask wanted, int order, Mask skipped, std::uint32_t root, const Hit& hit) {
    begin(graph, wanted, order, skipped, root);
    each_start([&](std::int32_t place, std::uint32_t node, Mask mask) {
      if (mask != skipped) hit(node, mask);
      if (order == 1) return;
      start_at(place);
      grow(1, node, false, mask, order, [](std::uint32_t, bool, const Way&) {}, hit);
    });
  }

  // As `candidates` for two of them, but for fresh features.
  template <class Emit>
  void changes(const SlotGraph& graph, Mask both, int order, std::uint32_t root, const Emit& emit) {
    candidates(graph, both, order, root, Told::kAll, [&](std::uint64_t key, Mask mask, bool fresh) {
      if (!fresh) emit(key, mask);
    });
  }

  // Tells `see` the pairs of atoms, with the place of the second, that must be open for a feature to be reached. `top` is
  // of productions: the atom of a production as the top of a fragment.
  template <class SeePair>
  static void each_pair(SlotKind kind, std::span<const std::uint32_t> places, std::span<const std::uint32_t> atoms,
                        std::span<const std::uint32_t> top, const SeePair& see) {
    const int n = static_cast<int>(atoms.size());
    for (int k = 1; k < n; ++k) {
      if (kind == SlotKind::kSequences) see(atoms[k - 1], 1U, atoms[k]);
      if (kind == SlotKind::kSets) {
        for (int i = 0; i < k; ++i) see(atoms[i], 1U, atoms[k]);
      }
      if (kind == SlotKind::kProductions) {
        int parent = k - 1;
        while (places[parent] + 1 != places[k]) --parent;
        see(top[atoms[parent]], 2U, atoms[k]);
      }
    }
  }

 private:
  struct Way {
    std::int32_t position, kept;  // `kept` is its number among the positions that may grow; of productions itself
    std::uint32_t place;
    Mask mask;
    bool fresh;  // whether what is checked of it and its neighbours is
  };
  using Bits = std::vector<std::uint64_t>;

  bool is_tree() const { return graph_->kind == SlotKind::kProductions; }

  void begin(const SlotGraph& graph, Mask wanted, int order, Mask skipped, std::uint32_t root) {
    graph_ = &graph;
    order_ = order;
    wanted_ = wanted;
    skipped_ = skipped;
    root_ = root;
    ways_.resize(kMostOrder + 1);
    chosen_.resize(kMostOrder + 1);
    fresh_.resize(kMostOrder + 1);
    kept_.clear();
    node_.clear();
    if (order == 1 && skipped == 0 && is_tree()) return;
    if (is_tree()) {
      // All keep their numbers, because the ranges below them do.
      known_.assign(static_cast<std::size_t>(graph.n), -1);
      return;
    }
    for (std::int32_t p = 0; p < graph.n; ++p) {
      if (!(graph.mask_of(p) & wanted) || graph.atom[p] == kNoFeature) continue;
      const std::uint32_t node = growing_.first_of(root, graph.atom[p]);
      if (node == kNoFeature) continue;
      kept_.push_back(p);
      node_.push_back(node);
    }
    n_words_ = (kept_.size() + 63) / 64;
    rows_.assign(kept_.size(), -1);
    bits_.clear();
    fresh_bits_.clear();
    differs_.assign(n_words_, 0);
    for (std::size_t k = 0; k < kept_.size(); ++k) {
      if ((graph.mask_of(kept_[k]) & wanted) != skipped) differs_[k / 64] |= std::uint64_t{1} << (k % 64);
    }
  }

  template <class See>
  void each_start(const See& see) {
    const SlotGraph& graph = *graph_;
    if (!is_tree()) {
      for (std::size_t k = 0; k < kept_.size(); ++k) {
        see(static_cast<std::int32_t>(k), node_[k], graph.mask_of(kept_[k]) & wanted_);
      }
      return;
    }
    for (std::int32_t p = 0; p < graph.n_starts; ++p) {
      const Mask mask = graph.mask_of(p) & wanted_;
      if (!mask || graph.atom[p] == kNoFeature) continue;
      const std::uint32_t node = growing_.first_of(root_, graph.atom[p]);
      if (node != kNoFeature) see(p, node, mask);
    }
  }

  void start_at(std::int32_t place) {
    path_[0] = place;
    depth_ = 1;
    chosen_[1].assign(n_words_, ~std::uint64_t{0});
    fresh_[1].assign(n_words_, 0);
  }

  // All ways to grow the feature whose path is kept. With `any`, pairs need not be known.
  void find_ways(int level, Mask mask, bool any, std::vector<Way>& out) {
    out.clear();
    if (is_tree()) {
      find_productions(mask, any, out);
      return;
    }
    const SlotGraph& graph = *graph_;
    const std::int32_t last = path_[level - 1];
    const std::int32_t slot = graph.slot[kept_[last]];
    const bool is_sequence = graph.kind == SlotKind::kSequences;
    // In 64 bits, because a gap without limit is large.
    const std::int64_t farthest =
        is_sequence ? std::int64_t{graph.slot[kept_[path_[0]]]} + level + graph.gap : std::int64_t{1} << 40;
    const auto take = [&](std::int32_t k, bool fresh) {
      const std::int32_t p = kept_[k];
      if (const Mask both = mask & graph.mask_of(p)) out.push_back({p, k, 1, both, fresh});
    };
    if (any) {
      for (std::int32_t k = last + 1; k < std::ssize(kept_) && graph.slot[kept_[k]] <= farthest; ++k) {
        if (graph.slot[kept_[k]] > slot) take(k, growing_.is_fresh(node_[k]));
      }
      return;
    }
    const std::int64_t row = row_of(last);
    for (std::size_t word = static_cast<std::size_t>(last) / 64; word < n_words_; ++word) {
      std::uint64_t bits = bits_[row + word], fresh = fresh_bits_[row + word];
      if (!is_sequence) {
        bits &= chosen_[level][word];
        fresh |= fresh_[level][word];
      }
      for (; bits; bits &= bits - 1) {
        const int bit = std::countr_zero(bits);
        const auto k = static_cast<std::int32_t>(64 * word) + bit;
        if (graph.slot[kept_[k]] > farthest) return;
        take(k, (fresh >> bit & 1) != 0);
      }
    }
  }

  void find_productions(Mask mask, bool any, std::vector<Way>& out) {
    const SlotGraph& graph = *graph_;
    const auto range = [&](std::int32_t begin, std::int32_t end, int depth) {
      for (std::int32_t p = begin; p < end; ++p) {
        const Mask both = mask & graph.mask_of(p);
        if (!both || graph.atom[p] == kNoFeature || (!any && !is_known(p))) continue;
        out.push_back({p, p, static_cast<std::uint32_t>(depth), both, !any && known_[p] == kFresh});
      }
    };
    const std::int32_t last = path_[depth_ - 1];
    range(graph.first_child[last], graph.last_child[last], depth_ + 1);
    for (int d = depth_; d >= 2; --d) range(path_[d - 1] + 1, graph.last_sibling[path_[d - 1]], d);
  }

  // Whether a production with the one above it may grow.
  bool is_known(std::int32_t position) {
    std::int8_t& known = known_[position];
    if (known < 0) {
      const std::uint32_t top = graph_->above[position];
      const std::uint32_t node = top == kNoFeature ? kNoFeature : growing_.first_of(root_, top);
      known = 0;
      if (node != kNoFeature) {
        const std::uint32_t pair = growing_.trie->find(feature_key(node, 2, graph_->atom[position]));
        if (pair != kNoFeature) known = static_cast<std::int8_t>(growing_.open[pair]);
      }
    }
    return known != 0;
  }

  // Where the bits of the positions begin that go with one that is kept: one bit for each.
  std::int64_t row_of(std::int32_t k) {
    if (rows_[k] < 0) {
      const SlotGraph& graph = *graph_;
      const FeatureTrie& trie = *growing_.trie;
      rows_[k] = std::ssize(bits_);
      bits_.resize(bits_.size() + n_words_, 0);
      fresh_bits_.resize(bits_.size(), 0);
      std::uint64_t *row = bits_.data() + rows_[k], *fresh = fresh_bits_.data() + rows_[k];
      const std::int32_t slot = graph.slot[kept_[k]];
      const std::int64_t farthest =
          graph.kind == SlotKind::kSequences ? std::int64_t{slot} + 1 + graph.gap : std::int64_t{1} << 40;
      std::int32_t end = k + 1;
      while (end < std::ssize(kept_) && graph.slot[kept_[end]] <= farthest) ++end;
      constexpr std::int32_t kAhead = 16;
      const auto key_of = [&](std::int32_t other) { return feature_key(node_[k], 1, graph.atom[kept_[other]]); };
      for (std::int32_t other = k + 1; other < end; ++other) {
        if (other + kAhead < end) trie.prefetch(key_of(other + kAhead));
        if (graph.slot[kept_[other]] == slot) continue;
        const std::uint32_t pair = trie.find(key_of(other));
        if (pair == kNoFeature || !growing_.open[pair]) continue;
        row[other / 64] |= std::uint64_t{1} << (other % 64);
        if (growing_.is_fresh(pair)) fresh[other / 64] |= std::uint64_t{1} << (other % 64);
      }
    }
    return rows_[k];
  }

  // Whether all that can still be added is what the skipped candidates have.
  bool is_hopeless(int level, const Way& way) const {
    if (skipped_ == 0 || way.mask != skipped_ || is_tree()) return false;
    for (std::size_t word = static_cast<std::size_t>(way.kept) / 64; word < n_words_; ++word) {
      if (differs_[word] & chosen_[level][word]) return false;
    }
    return true;
  }

  template <class Finish, class Hit>
  void grow(int level, std::uint32_t node, bool fresh, Mask mask, int top, const Finish& finish, const Hit& hit) {
    const SlotGraph& graph = *graph_;
    auto& ways = ways_[level];
    // The pairs themselves are what is counted at order 2.
    find_ways(level, mask, level == 1 && top == 1, ways);
    if (level == top) {
      for (const Way& way : ways) finish(node, fresh, way);
      return;
    }
    const FeatureTrie& trie = *growing_.trie;
    for (const Way& way : ways) trie.prefetch(feature_key(node, way.place, graph.atom[way.position]));
    for (const Way& way : ways) {
      const std::uint32_t grown = trie.find(feature_key(node, way.place, graph.atom[way.position]));
      if (grown == kNoFeature || !growing_.open[grown]) continue;
      if (way.mask != skipped_) hit(grown, way.mask);
      if (level + 1 >= order_) continue;
      const bool is_fresh = fresh || way.fresh || growing_.is_fresh(grown);
      if (is_tree()) {
        const int depth = depth_;
        const std::int32_t before = path_[way.place - 1];
        depth_ = static_cast<int>(way.place);
        path_[depth_ - 1] = way.position;
        grow(level + 1, grown, is_fresh, way.mask, top, finish, hit);
        path_[depth_ - 1] = before;
        depth_ = depth;
      } else {
        path_[level] = way.kept;
        auto& chosen = chosen_[level + 1];
        chosen = chosen_[level];
        if (graph.kind == SlotKind::kSets) {
          auto& with_fresh = fresh_[level + 1];
          with_fresh = fresh_[level];
          const std::int64_t row = row_of(path_[level - 1]);
          for (std::size_t word = 0; word < n_words_; ++word) {
            chosen[word] &= bits_[row + word];
            with_fresh[word] |= fresh_bits_[row + word];
          }
        }
        if (!is_hopeless(level + 1, way)) grow(level + 1, grown, is_fresh, way.mask, top, finish, hit);
      }
    }
  }

  Growing growing_;
  const SlotGraph* graph_ = nullptr;
  int order_ = 0, depth_ = 0;
  std::uint32_t root_ = 0;
  Mask wanted_ = 0, skipped_ = 0;
  std::size_t n_words_ = 0;
  std::vector<std::int32_t> kept_;   // positions of sets and sequences that may grow
  std::vector<std::uint32_t> node_;  // their features of order 1
  std::vector<std::int64_t> rows_;   // where the row of each begins, -1 before it is made
  Bits bits_, fresh_bits_, differs_;
  std::vector<std::int8_t> known_;                   // by position of productions: as `open`, or -1
  std::array<std::int32_t, kMostOrder + 1> path_{};  // by level, of productions by depth
  std::vector<std::vector<Way>> ways_;               // by level
  std::vector<Bits> chosen_, fresh_;                 // by level, of sets: what goes with all that is taken
};

}  // namespace espalier
