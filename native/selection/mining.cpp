#include "selection/mining.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>

#include "selection/blocked_filter.hpp"
#include "selection/feature_hits.hpp"
#include "selection/growth_for.hpp"

namespace espalier {

namespace {

constexpr unsigned kPlus = OccurrenceCounter::kPlus, kMinus = OccurrenceCounter::kMinus;

// On which sides a feature is present, if a group's candidates of a mask have it.
unsigned sides_of(Mask mask, int plus, int minus) {
  return static_cast<unsigned>((mask >> plus & 1) | (mask >> minus & 1) << 1);
}

// Tells `emit` the candidates of a mispredicted example, and on which sides they are present.
template <class Graph, class Growth, class Emit>
void each_candidate(const Graph& graph, Growth& growth, const Outputs& outputs, std::int64_t example, int order,
                    const Emit& emit) {
  const int right = outputs.right[example], predicted = outputs.predicted[example];
  if (outputs.root_of.empty()) {
    const Mask wanted = Mask{1} << right | Mask{1} << predicted;
    growth.candidates(graph, wanted, order, 0, Told::kAll,
                      [&](std::uint64_t key, Mask mask, bool) { emit(key, sides_of(mask, right, predicted)); });
    return;
  }
  for (const auto& [label, side] : {std::pair(right, kPlus), std::pair(predicted, kMinus)}) {
    if (const std::int32_t root = outputs.root_of[label]; root >= 0) {
      growth.candidates(graph, 1, order, static_cast<std::uint32_t>(root), Told::kAll,
                        [&](std::uint64_t key, Mask, bool) { emit(key, side); });
    }
  }
}

// The outputs of an example that are counted, and those that were. An output is a candidate or a class.
struct Turn {
  int right, predicted, before;
  bool was_wrong() const { return before != right; }
  bool is_wrong() const { return predicted != right; }
};

// Tells `emit` what changes the counts of a group. `next` is called between parts that are counted apart.
template <class Graph, class Growth, class Emit, class Next>
void each_change(const Graph& graph, Growth& growth, const Turn& turn, int order, const Emit& emit, const Next& next) {
  const auto [right, predicted, before] = turn;
  const auto bit = [](int output) { return Mask{1} << output; };
  if (turn.was_wrong() && !turn.is_wrong()) {
    growth.candidates(graph, bit(right) | bit(before), order, 0, Told::kAll,
                      [&](std::uint64_t key, Mask mask, bool fresh) {
                        if (!fresh) emit(key, sides_of(mask, right, before), Change::kRemove);
                      });
    return;
  }
  // Of an example that stays mispredicted, what the right output has was counted before, unless it is fresh.
  growth.candidates(
      graph, bit(right) | bit(predicted), order, 0, turn.was_wrong() ? Told::kFreshOnly : Told::kAll,
      [&](std::uint64_t key, Mask mask, bool) { emit(key, sides_of(mask, right, predicted), Change::kAdd); });
  if (turn.was_wrong() && predicted != before) {
    next();
    growth.changes(graph, bit(predicted) | bit(before), order, 0,
                   [&](std::uint64_t key, Mask mask) { emit(key, sides_of(mask, predicted, before), Change::kSwap); });
  }
}

// The same for an item and its classes, whose features have nothing in common.
template <class Graph, class Growth, class Emit>
void each_change(const Graph& graph, Growth& growth, const Turn& turn, std::span<const std::int32_t> root_of, int order,
                 const Emit& emit) {
  const auto grow = [&](int label, Told told, bool with_fresh, unsigned side, Change change) {
    if (root_of[label] < 0) return;
    growth.candidates(graph, 1, order, static_cast<std::uint32_t>(root_of[label]), told,
                      [&](std::uint64_t key, Mask, bool fresh) {
                        if (with_fresh || !fresh) emit(key, side, change);
                      });
  };
  const bool was = turn.was_wrong(), is = turn.is_wrong(), same = was && is && turn.before == turn.predicted;
  if (is) {
    grow(turn.right, was ? Told::kFreshOnly : Told::kAll, true, kPlus, Change::kAdd);
    grow(turn.predicted, same ? Told::kFreshOnly : Told::kAll, true, kMinus, Change::kAdd);
  } else {
    grow(turn.right, Told::kAll, false, kPlus, Change::kRemove);
  }
  if (was && !same) grow(turn.before, Told::kAll, false, kMinus, Change::kRemove);
}

// Filters of all workers together: each has its own, so that none waits. A key that any of them lets pass, or that came
// too often in all of them together, passes.
class Filters {
 public:
  Filters(std::int64_t memory, int threshold, int n_workers) : threshold_(threshold) {
    for (int k = 0; k < n_workers; ++k) {
      filters_.push_back(std::make_unique<BlockedFilter>(std::max<std::int64_t>(memory / n_workers, 64), threshold));
    }
  }
  void add(int worker, std::span<const std::uint64_t> keys) {
    filters_[worker]->add_batch(keys, [](std::size_t) {});
  }
  bool pass(std::uint64_t key) const {
    int sum = 0;
    for (const auto& filter : filters_) {
      const int own = filter->count(key);
      sum += own;
      // A filter stops counting at the threshold.
      if (own == threshold_ || sum > threshold_) return true;
    }
    return false;
  }

 private:
  int threshold_;
  std::vector<std::unique_ptr<BlockedFilter>> filters_;
};

// A key for each side: the filter bounds the larger of both counts.
std::uint64_t filter_key(std::uint64_t key, unsigned side) { return key << 1 | (side == kMinus); }

}  // namespace

template <class Graphs>
CountedFeatures count_features(const Graphs& graphs, const Growing& growing, const Outputs& outputs,
                               std::span<const std::uint64_t> watched, const CountSettings& settings, Team& team) {
  auto growth = growths<Graphs>(growing, team);
  OccurrenceCounter counter(team.size(), settings.memory, settings.folder);
  counter.watch(watched);
  const auto [from, to] = team.span();
  const double length = to - from;
  const bool filtered = settings.filter_memory > 0;
  CountedFeatures out;
  std::unique_ptr<Filters> filters;
  std::atomic<std::int64_t> n_emitted{0};
  if (filtered) {
    team.span(from, from + 0.4 * length);
    const int threshold = static_cast<int>(std::clamp(settings.threshold, 0.0, 3.0));
    filters = std::make_unique<Filters>(settings.filter_memory, threshold, team.size());
    std::vector<std::vector<std::uint64_t>> keys(static_cast<std::size_t>(team.size()));
    each_example(graphs, team, [&](std::int64_t example, int worker) {
      if (outputs.right[example] == outputs.predicted[example]) return;
      auto& own = keys[worker];
      own.clear();
      std::int64_t n = 0;
      each_candidate(graphs[example], growth[worker], outputs, example, settings.order,
                     [&](std::uint64_t key, unsigned sides) {
                       ++n;
                       for (const unsigned side : {kPlus, kMinus}) {
                         if (sides & side) own.push_back(filter_key(key, side));
                       }
                       if (own.size() >= 4096) {
                         filters->add(worker, own);
                         own.clear();
                       }
                     });
      filters->add(worker, own);
      n_emitted.fetch_add(n, std::memory_order_relaxed);
    });
  }
  std::vector<std::uint64_t> kept_watched(watched.begin(), watched.end());
  std::ranges::sort(kept_watched);
  team.span(from + (filtered ? 0.4 : 0.0) * length, from + 0.8 * length);
  each_example(graphs, team, [&](std::int64_t example, int worker) {
    if (outputs.right[example] == outputs.predicted[example]) return;
    counter.begin(worker, example);
    each_candidate(
        graphs[example], growth[worker], outputs, example, settings.order, [&](std::uint64_t key, unsigned sides) {
          if (filtered) {
            // By both sides, wherever it occurs: a feature that passes on one must be counted on both.
            const bool passes = filters->pass(filter_key(key, kPlus)) || filters->pass(filter_key(key, kMinus)) ||
                                std::ranges::binary_search(kept_watched, key);
            if (!passes) return;
          }
          counter.add(worker, key, sides);
        });
  });
  filters.reset();
  team.span(from + 0.8 * length, to);
  static_cast<Counted&>(out) = counter.count(team, settings.threshold);
  out.n_emitted = filtered ? n_emitted.load() : out.n_occurrences;
  team.span(from, to);
  return out;
}

template <class Graphs>
CountChanges count_changes(const Graphs& graphs, const Growing& growing, const Outputs& outputs,
                           std::span<const std::int32_t> before, KeptCounts& kept, const CountSettings& settings,
                           Team& team) {
  auto growth = growths<Graphs>(growing, team);
  OccurrenceCounter counter(team.size(), settings.memory, settings.folder);
  const auto [from, to] = team.span();
  team.span(from, from + 0.8 * (to - from));
  each_example(graphs, team, [&](std::int64_t example, int worker) {
    const int right = outputs.right[example];
    const Turn turn{right, outputs.predicted[example], before.empty() ? right : before[example]};
    if (!turn.was_wrong() && !turn.is_wrong()) return;
    counter.begin(worker, 2 * example);
    const auto emit = [&](std::uint64_t key, unsigned sides, Change change) {
      counter.add(worker, key, sides, change);
    };
    if (outputs.root_of.empty()) {
      each_change(graphs[example], growth[worker], turn, settings.order, emit,
                  [&] { counter.begin(worker, 2 * example + 1); });
    } else {
      each_change(graphs[example], growth[worker], turn, outputs.root_of, settings.order, emit);
    }
  });
  team.span(from + 0.8 * (to - from), to);
  CountChanges out = counter.change(team, settings.threshold, *growing.trie, kept);
  team.span(from, to);
  return out;
}

template <class Graphs>
CountedFeatures count_frequent(const Graphs& graphs, const Growing& growing, const CountSettings& settings,
                               Team& team) {
  auto growth = growths<Graphs>(growing, team);
  OccurrenceCounter counter(team.size(), settings.memory, settings.folder);
  each_example(graphs, team, [&](std::int64_t example, int worker) {
    const auto graph = graphs[example];
    for (int k = 0; k < graph.n_candidates; ++k) {
      counter.begin(worker, example * kMostCandidates + k);
      growth[worker].candidates(graph, Mask{1} << k, settings.order, 0, Told::kAll,
                                [&](std::uint64_t key, Mask, bool) { counter.add(worker, key, kPlus); });
    }
  });
  CountedFeatures out;
  static_cast<Counted&>(out) = counter.count(team, settings.threshold);
  out.n_emitted = out.n_occurrences;
  return out;
}

template <class Graphs>
std::vector<double> feature_scores(const Graphs& graphs, const Growing& growing, std::span<const double> weight,
                                   std::span<const std::int32_t> root_of, int order, FeatureValues values, Team& team) {
  const bool is_ranking = root_of.empty();
  std::vector<std::int64_t> start{0};
  for (std::int64_t example = 0; example < graphs.size(); ++example) {
    start.push_back(start.back() + (is_ranking ? graphs[example].n_candidates : std::ssize(root_of)));
  }
  std::vector<double> out(static_cast<std::size_t>(start.back()));
  struct Workspace {
    std::vector<FeatureHit> hits;
    PresentFeatures present;
  };
  auto growth = growths<Graphs>(growing, team);
  std::vector<Workspace> spaces(static_cast<std::size_t>(team.size()));
  const bool presence = values == FeatureValues::kPresence;
  each_example(graphs, team, [&](std::int64_t example, int worker) {
    auto& [hits, present] = spaces[worker];
    const auto graph = graphs[example];
    double* own = out.data() + start[example];
    hits.clear();
    const auto take = [&](std::uint32_t node, Mask mask) {
      if (weight[node] != 0) hits.push_back({node, mask});
    };
    if (is_ranking) {
      growth[worker].hits(graph, graph.all, order, presence ? 0 : graph.all, 0, take);
      if (presence) present.join(hits);
      for (const FeatureHit& hit : hits) {
        if (hit.mask != graph.all) add_to(own, hit.mask, weight[hit.node]);
      }
      return;
    }
    for (std::size_t label = 0; label < root_of.size(); ++label) {
      if (root_of[label] < 0) continue;
      hits.clear();
      growth[worker].hits(graph, 1, order, 0, static_cast<std::uint32_t>(root_of[label]), take);
      if (presence) present.join(hits);
      for (const FeatureHit& hit : hits) own[label] += weight[hit.node];
    }
  });
  return out;
}

template <class Graphs>
FeatureRows feature_rows(const Graphs& graphs, const Growing& growing, std::span<const std::uint8_t> wanted, int order,
                         Team& team) {
  struct Row {
    std::vector<std::uint32_t> node;
    std::vector<std::int32_t> count;
  };
  std::vector<std::vector<Row>> rows(static_cast<std::size_t>(graphs.size()));
  auto growth = growths<Graphs>(growing, team);
  each_example(graphs, team, [&](std::int64_t example, int worker) {
    const auto graph = graphs[example];
    std::vector<std::vector<std::uint32_t>> found(static_cast<std::size_t>(graph.n_candidates));
    growth[worker].hits(graph, graph.all, order, 0, 0, [&](std::uint32_t node, Mask mask) {
      if (!wanted[node]) return;
      for (; mask; mask &= mask - 1) found[std::countr_zero(mask)].push_back(node);
    });
    for (auto& own : found) {
      std::ranges::sort(own);
      Row row;
      for (const std::uint32_t node : own) {
        if (row.node.empty() || row.node.back() != node) {
          row.node.push_back(node);
          row.count.push_back(0);
        }
        ++row.count.back();
      }
      rows[example].push_back(std::move(row));
    }
  });
  FeatureRows out{{0}, {}, {}};
  for (const auto& of_example : rows) {
    for (const Row& row : of_example) {
      out.node.insert(out.node.end(), row.node.begin(), row.node.end());
      out.count.insert(out.count.end(), row.count.begin(), row.count.end());
      out.start.push_back(std::ssize(out.node));
    }
  }
  return out;
}

std::int64_t open_parts(const FeatureTrie& trie, bool is_of_arcs, SlotKind kind, std::span<const std::uint32_t> top,
                        std::span<const std::uint8_t> needed, std::span<std::uint8_t> open, Team& team) {
  constexpr std::int64_t kNodes = 1 << 14;  // of a task
  std::atomic<std::int64_t> n_lost{0};
  const auto mark = [&](std::uint32_t node) {
    std::atomic_ref<std::uint8_t>(open[node]).store(1, std::memory_order_relaxed);
  };
  const std::int64_t n = trie.size();
  team.run((n + kNodes - 1) / kNodes, [&](std::int64_t task, int) {
    std::array<std::uint32_t, kMostOrder> places, atoms;
    const std::int64_t end = std::min(n, (task + 1) * kNodes);
    for (std::int64_t at = std::max<std::int64_t>(task * kNodes, trie.n_roots()); at < end; ++at) {
      if (!needed[at]) continue;
      auto node = static_cast<std::uint32_t>(at);
      std::size_t first = kMostOrder;
      while (node >= trie.n_roots()) {
        mark(node);
        const std::uint64_t key = trie.key(node);
        --first;
        places[first] = place_of(key);
        atoms[first] = atom_of(key);
        node = parent_of(key);
      }
      places[first] = 1;  // the first one has no place of its own
      const std::uint32_t root = node;
      const auto single = [&](std::uint32_t atom) { return trie.find(feature_key(root, 0, atom)); };
      bool found = true;
      const auto see = [&](std::uint32_t atom, std::uint32_t place, std::uint32_t other) {
        const std::uint32_t one = single(atom);
        const std::uint32_t pair = one == kNoFeature ? kNoFeature : trie.find(feature_key(one, place, other));
        if (pair == kNoFeature) {
          found = false;
          return;
        }
        mark(one);
        mark(pair);
      };
      const auto length = kMostOrder - first;
      const std::span<const std::uint32_t> own_places(places.data() + first, length),
          own_atoms(atoms.data() + first, length);
      if (length > 1 && is_of_arcs) SubtreeGrowth::each_pair(own_places, own_atoms, see);
      if (length > 1 && !is_of_arcs) SlotGrowth::each_pair(kind, own_places, own_atoms, top, see);
      if (is_of_arcs || kind != SlotKind::kProductions) {
        for (const std::uint32_t atom : own_atoms) {
          if (const std::uint32_t one = single(atom); one != kNoFeature) {
            mark(one);
          } else {
            found = false;
          }
        }
      }
      if (!found) n_lost.fetch_add(1, std::memory_order_relaxed);
    }
  });
  return n_lost;
}

std::vector<std::uint32_t> first_features(const FeatureTrie& trie, std::int64_t n_atoms,
                                          std::span<const std::uint8_t> open) {
  std::vector<std::uint32_t> out(static_cast<std::size_t>(trie.n_roots() * n_atoms), kNoFeature);
  for (std::uint32_t node = trie.n_roots(); node < trie.size(); ++node) {
    const std::uint64_t key = trie.key(node);
    const std::uint32_t parent = parent_of(key);
    if (parent < trie.n_roots() && open[node]) out[parent * n_atoms + atom_of(key)] = node;
  }
  return out;
}

template CountedFeatures count_features(const ArcUnions&, const Growing&, const Outputs&,
                                        std::span<const std::uint64_t>, const CountSettings&, Team&);
template CountedFeatures count_features(const SlotGraphs&, const Growing&, const Outputs&,
                                        std::span<const std::uint64_t>, const CountSettings&, Team&);
template CountChanges count_changes(const ArcUnions&, const Growing&, const Outputs&, std::span<const std::int32_t>,
                                    KeptCounts&, const CountSettings&, Team&);
template CountChanges count_changes(const SlotGraphs&, const Growing&, const Outputs&, std::span<const std::int32_t>,
                                    KeptCounts&, const CountSettings&, Team&);
template CountedFeatures count_frequent(const ArcUnions&, const Growing&, const CountSettings&, Team&);
template CountedFeatures count_frequent(const SlotGraphs&, const Growing&, const CountSettings&, Team&);
template std::vector<double> feature_scores(const ArcUnions&, const Growing&, std::span<const double>,
                                            std::span<const std::int32_t>, int, FeatureValues, Team&);
template std::vector<double> feature_scores(const SlotGraphs&, const Growing&, std::span<const double>,
                                            std::span<const std::int32_t>, int, FeatureValues, Team&);
template FeatureRows feature_rows(const ArcUnions&, const Growing&, std::span<const std::uint8_t>, int, Team&);
template FeatureRows feature_rows(const SlotGraphs&, const Growing&, std::span<const std::uint8_t>, int, Team&);

}  // namespace espalier
