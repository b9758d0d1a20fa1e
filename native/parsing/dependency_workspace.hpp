// What parsing and learning share: the parts of one sentence, scored by a table of weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstdint>
#include <numeric>
#include <vector>

#include "jobs/pace.hpp"
#include "parsing/dependency_chart.hpp"
#include "parsing/dependency_features.hpp"
#include "parsing/dependency_parser.hpp"
#include "parsing/weight_table.hpp"

namespace espalier {

// The sum of the weights of the features that visit(emit) emits.
template <class Visit>
double sum_of(const WeightView& weights, const Visit& visit) {
  // All weights of a part are asked for before the first is used: most of them miss the cache.
  constexpr int kMost = 256;
  std::size_t place[kMost];
  int n = 0;
  double out = 0.0;
  const auto add = [&] {
    for (int k = 0; k < n; ++k) out += weights.weight[place[k]];
    n = 0;
  };
  visit([&](std::uint64_t key, std::uint64_t slot) {
    if (n == kMost) add();
    place[n] = weights.place(key, slot);
    __builtin_prefetch(weights.weight + place[n++]);
  });
  add();
  return out;
}

// The score of an arc by the pruner.
inline double rough_score(const WeightView& weights, const SentenceKeys& keys, std::int32_t h, std::int32_t m) {
  return sum_of(weights, [&](const auto& emit) { rough_arc_features(keys, h, m, emit); });
}

// Probabilities of the heads of one word, from scores.
inline void normalize(std::vector<double>& score, std::int32_t m) {
  double most = kNoTree, sum = 0.0;
  score[m] = kNoTree;
  for (const double own : score) most = std::max(most, own);
  for (double& own : score) sum += own = std::exp(own - most);
  for (double& own : score) own /= sum;
}

// What parsing one sentence needs; a worker keeps it from one sentence to the next.
class Workspace {
 public:
  SentenceKeys keys;
  ArcGraph graph;
  PartScores scores;
  DependencyChart chart;

  // The arcs that the pruner keeps, with those from each word to the next: these alone form a tree.
  std::vector<ArcGraph::Arc> kept(const WeightView& pruner, const HeadPruning& pruning, Pace& pace) {
    const std::int32_t n = keys.n_words();
    std::vector<ArcGraph::Arc> out;
    for (std::int32_t m = 1; m <= n; ++m) {
      probability_.resize(n + 1);
      for (std::int32_t h = 0; h <= n; ++h) probability_[h] = h == m ? 0.0 : rough_score(pruner, keys, h, m);
      pace.step(64 * n);
      normalize(probability_, m);
      order_.resize(n + 1);
      std::iota(order_.begin(), order_.end(), 0);
      const auto most = std::min<std::int32_t>(pruning.most, n);
      std::partial_sort(order_.begin(), order_.begin() + most, order_.end(), [&](std::int32_t x, std::int32_t y) {
        return probability_[x] != probability_[y] ? probability_[x] > probability_[y] : x < y;
      });
      bool has_previous = false;
      const double least = pruning.ratio * probability_[order_[0]];
      for (std::int32_t k = 0; k < most && probability_[order_[k]] >= least; ++k) {
        out.push_back({order_[k], m});
        has_previous |= order_[k] == m - 1;
      }
      if (!has_previous) out.push_back({m - 1, m});
    }
    return out;
  }

  void score_parts(const WeightView& weights, int order, Pace& pace) {
    const std::int32_t n_arcs = graph.n_arcs();
    scores.arc.resize(n_arcs);
    scores.sibling.assign(order >= 2 ? graph.n_siblings() : 0, 0.0);
    scores.pair.assign(order >= 2 ? graph.n_pairs() : 0, 0.0);
    scores.grand_sibling.assign(order >= 3 ? graph.n_grand_siblings() : 0, 0.0);
    for (std::int32_t arc = 0; arc < n_arcs; ++arc) {
      const auto [h, m] = graph[arc];
      scores.arc[arc] = sum_of(weights, [&](const auto& emit) { arc_features(keys, h, m, emit); });
      if (order < 2) continue;
      const std::int32_t from = graph.first_inside(arc), n_inside = graph.last_inside(arc) - from;
      const auto sibling = [&, this](std::int32_t place) {
        return place == 0 ? keys.none() : graph[from + place - 1].modifier;
      };
      for (std::int32_t place = 0; place <= n_inside; ++place) {
        scores.sibling[graph.sibling_start(arc) + place] =
            sum_of(weights, [&](const auto& emit) { sibling_features(keys, h, sibling(place), m, emit); });
      }
      for (std::int32_t u = 0; u < graph.n_above(h); ++u) {
        const std::int32_t upper = graph.above(h)[u];
        if (upper == graph.top() || !graph.fits(upper, arc)) continue;
        const std::int32_t g = graph[upper].head;
        const std::int64_t pair = graph.pair_start(arc) + u;
        scores.pair[pair] = sum_of(weights, [&](const auto& emit) { grandparent_features(keys, g, h, m, emit); });
        for (std::int32_t place = 0; order >= 3 && place <= n_inside; ++place) {
          scores.grand_sibling[graph.grand_sibling_start(pair) + place] =
              sum_of(weights, [&](const auto& emit) { grand_sibling_features(keys, g, h, sibling(place), m, emit); });
        }
        pace.step(16 * (order >= 3 ? n_inside + 1 : 1));
      }
      pace.step(16 * (n_inside + 5));
    }
  }

 private:
  std::vector<double> probability_;
  std::vector<std::int32_t> order_;
};

// Of each word: its head, its adjacent sibling on the inside (or keys.none()) and the head of its head (or -1).
struct Relatives {
  std::vector<std::int32_t> sibling, grandparent;

  Relatives(const SentenceKeys& keys, const std::int32_t* head) {
    const std::int32_t n = keys.n_words();
    sibling.assign(n + 1, keys.none());
    grandparent.assign(n + 1, -1);
    std::vector<std::int32_t> last(n + 1, -1);
    for (std::int32_t m = 1; m <= n; ++m) {
      grandparent[m] = head[m] == 0 ? -1 : head[head[m]];
      if (head[m] > m) continue;
      if (last[head[m]] >= 0) sibling[m] = last[head[m]];
      last[head[m]] = m;
    }
    std::fill(last.begin(), last.end(), -1);
    for (std::int32_t m = n; m >= 1; --m) {
      if (head[m] < m) continue;
      if (last[head[m]] >= 0) sibling[m] = last[head[m]];
      last[head[m]] = m;
    }
  }
};

// A part of a tree, by the words that it is of; -1 where it has none in a place.
struct Part {
  features::Kind kind;
  std::int32_t modifier, head, sibling, grandparent;

  auto operator<=>(const Part&) const = default;
};

// Calls visit(part) for every part of a tree.
template <class Visit>
void visit_parts(const SentenceKeys& keys, const std::int32_t* head, int order, const Visit& visit) {
  using namespace features;
  const Relatives relatives(keys, head);
  for (std::int32_t m = 1; m <= keys.n_words(); ++m) {
    const std::int32_t h = head[m], x = relatives.sibling[m], g = relatives.grandparent[m];
    visit(Part{kArcKind, m, h, -1, -1});
    if (order < 2) continue;
    visit(Part{kSiblingKind, m, h, x, -1});
    if (g < 0) continue;
    visit(Part{kGrandparentKind, m, h, -1, g});
    if (order >= 3) visit(Part{kGrandSiblingKind, m, h, x, g});
  }
}

template <class Emit>
void part_features(const SentenceKeys& keys, const Part& part, const Emit& emit) {
  using namespace features;
  const auto& [kind, m, h, x, g] = part;
  if (kind == kArcKind) arc_features(keys, h, m, emit);
  if (kind == kSiblingKind) sibling_features(keys, h, x, m, emit);
  if (kind == kGrandparentKind) grandparent_features(keys, g, h, m, emit);
  if (kind == kGrandSiblingKind) grand_sibling_features(keys, g, h, x, m, emit);
}

inline double tree_score(const WeightView& weights, const SentenceKeys& keys, const std::int32_t* head, int order) {
  return sum_of(weights, [&](const auto& emit) {
    visit_parts(keys, head, order, [&](const Part& part) { part_features(keys, part, emit); });
  });
}

}  // namespace espalier
