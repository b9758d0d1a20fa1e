// The chart of dependencies against all projective trees of short sentences, small enough for every sanitizer.
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <vector>

#include "jobs/team.hpp"
#include "parsing/dependency_chart.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

using Heads = std::vector<std::int32_t>;

bool is_projective_tree(const Heads& head, bool several_roots) {
  const auto n = static_cast<std::int32_t>(head.size()) - 1;
  if (!several_roots && std::count(head.begin() + 1, head.end(), 0) != 1) return false;
  const auto is_below = [&](std::int32_t token, std::int32_t above) {
    for (std::int32_t step = 0; step <= n && token > 0; ++step) token = head[token] == above ? -1 : head[token];
    return token == -1;
  };
  for (std::int32_t m = 1; m <= n; ++m) {
    if (!is_below(m, 0)) return false;
    for (std::int32_t j = std::min(m, head[m]) + 1; j < std::max(m, head[m]); ++j) {
      if (!is_below(j, head[m])) return false;
    }
  }
  return true;
}

// Some arcs with scores of their parts. Scores are few multiples of 1/8, so that sums are exact and many trees equal.
struct RandomSentence {
  ArcGraph graph;
  PartScores scores;
  bool several_roots;

  RandomSentence(unsigned seed, std::int32_t n, int order, bool several) : several_roots(several) {
    std::mt19937 random(seed);
    std::vector<ArcGraph::Arc> arcs;
    for (std::int32_t h = 0; h <= n; ++h) {
      for (std::int32_t m = 1; m <= n; ++m) {
        if (h != m && random() % 4) arcs.push_back({h, m});
      }
    }
    std::shuffle(arcs.begin(), arcs.end(), random);
    graph.set(n, arcs, several);
    const auto any = [&](std::int64_t count) {
      std::vector<double> out(count);
      for (double& own : out) own = static_cast<double>(random() % (seed % 2 ? 3 : 1000)) / 8.0;
      return out;
    };
    scores.arc = any(graph.n_arcs());
    if (order > 1) scores.sibling = any(graph.n_siblings());
    if (order > 1) scores.pair = any(graph.n_pairs());
    if (order > 2) scores.grand_sibling = any(graph.n_grand_siblings());
  }

  std::int32_t arc(std::int32_t h, std::int32_t m) const {
    for (std::int32_t k = graph.first(h); k < graph.last(h); ++k) {
      if (graph[k].modifier == m) return k;
    }
    return -1;
  }

  // The definition: the sum over all words of the scores of their parts.
  double score(const Heads& head) const {
    double out = 0.0;
    for (std::int32_t m = 1; m < std::ssize(head); ++m) {
      if (arc(head[m], m) < 0) return kNoTree;
    }
    for (std::int32_t m = 1; m < std::ssize(head); ++m) {
      const std::int32_t h = head[m], own = arc(h, m);
      out += scores.arc[own];
      std::int32_t sibling = -1;
      for (std::int32_t j = std::min(h, m) + 1; j < std::max(h, m); ++j) {
        if (head[j] == h && (sibling < 0 || h < m)) sibling = j;
      }
      const std::int64_t place = sibling < 0 ? 0 : 1 + arc(h, sibling) - graph.first_inside(own);
      if (!scores.sibling.empty()) out += scores.sibling[graph.sibling_start(own) + place];
      const std::int32_t upper = h == 0 ? graph.top() : arc(head[h], h);
      const std::int64_t pair = graph.pair_start(own) + graph.rank(upper);
      if (!scores.pair.empty()) out += scores.pair[pair];
      if (!scores.grand_sibling.empty()) out += scores.grand_sibling[graph.grand_sibling_start(pair) + place];
    }
    return out;
  }

  std::vector<DependencyParse> all() const {
    std::vector<DependencyParse> out;
    const std::int32_t n = graph.n_words();
    Heads head(n + 1, 0);
    head[0] = -1;
    for (;;) {
      if (is_projective_tree(head, several_roots)) {
        if (const double own = score(head); own > kNoTree) out.push_back({own, head});
      }
      std::int32_t m = 1;
      while (m <= n && head[m] == n) head[m++] = 0;
      if (m > n) break;
      ++head[m];
    }
    std::stable_sort(out.begin(), out.end(), [](const auto& x, const auto& y) { return x.score > y.score; });
    return out;
  }
};

void test_best_of_all_trees() {
  Team team(1, nullptr);
  Pace pace(team, 0);
  DependencyChart chart;  // one for all: nothing of one sentence may be left for the next
  for (unsigned seed = 0; seed < 120; ++seed) {
    const RandomSentence sentence(seed, 1 + static_cast<std::int32_t>(seed % 5), 1 + static_cast<int>(seed / 5 % 3),
                                  seed % 4 == 0);
    const std::vector<DependencyParse> all = sentence.all();
    chart.fill(sentence.graph, sentence.scores, pace);
    for (const std::int64_t most : {1, 3, 2000}) {
      const std::vector<DependencyParse> found = chart.best(most, pace);
      CHECK(std::ssize(found) == std::min<std::int64_t>(most, std::ssize(all)));
      std::set<Heads> distinct;
      for (std::size_t k = 0; k < found.size(); ++k) {
        CHECK(found[k].score == all[k].score);
        CHECK(distinct.insert(found[k].head).second);
        CHECK(found[k].score == sentence.score(found[k].head));
        CHECK(is_projective_tree(found[k].head, sentence.several_roots));
      }
    }
  }
}

// The best j are the first j of a longer list, also among equals.
void test_order_does_not_depend_on_number() {
  Team team(1, nullptr);
  Pace pace(team, 0);
  DependencyChart chart;
  const RandomSentence sentence(1, 5, 2, false);
  chart.fill(sentence.graph, sentence.scores, pace);
  const auto longer = chart.best(60, pace), shorter = chart.best(7, pace);
  for (std::size_t k = 0; k < shorter.size(); ++k) CHECK(shorter[k].head == longer[k].head);
}

void test_arcs_without_a_tree() {
  Team team(1, nullptr);
  Pace pace(team, 0);
  DependencyChart chart;
  ArcGraph graph;
  graph.set(2, {{1, 2}, {2, 1}}, false);  // a circle
  PartScores scores;
  scores.arc = {1.0, 1.0};
  chart.fill(graph, scores, pace);
  CHECK(chart.best(3, pace).empty());
}

// A chain of many words: no recursion, and no more derivations than there are trees.
void test_long_sentence() {
  Team team(1, nullptr);
  Pace pace(team, 0);
  DependencyChart chart;
  ArcGraph graph;
  constexpr std::int32_t kWords = 600;
  std::vector<ArcGraph::Arc> arcs;
  for (std::int32_t m = 1; m <= kWords; ++m) {
    arcs.push_back({m - 1, m});
    if (m > 2) arcs.push_back({m - 2, m});
  }
  graph.set(kWords, arcs, false);
  PartScores scores;
  for (std::int32_t arc = 0; arc < graph.n_arcs(); ++arc) scores.arc.push_back(graph[arc].modifier % 7);
  chart.fill(graph, scores, pace);
  const auto found = chart.best(50, pace);
  CHECK(found.size() == 50);
  for (const DependencyParse& parse : found) CHECK(is_projective_tree(parse.head, false));
}

}  // namespace

int main() {
  return run_all("dependency_chart_tests", {{"best of all trees", test_best_of_all_trees},
                                            {"order does not depend on number", test_order_does_not_depend_on_number},
                                            {"arcs without a tree", test_arcs_without_a_tree},
                                            {"long sentence", test_long_sentence}});
}
