// Subset trees: values against a slow recursion over pairs of nodes, gradients against differences. The Python tests
// hold the definition itself.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "corpus/vocabulary.hpp"
#include "jobs/team.hpp"
#include "kernels/subset_tree.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

// Delta by its definition, over distinct subtrees; depth < 0 means no limit.
struct Slow {
  const ForestArrays& forest;
  double decay, frontier;
  bool identity, leaves;

  bool is_leaf(std::int32_t u) const { return forest.height[u] == 0; }
  double delta(std::int32_t u, std::int32_t v, int depth) const {
    if (forest.label[u] != forest.label[v] || is_leaf(u) != is_leaf(v) || (identity && u != v)) return 0.0;
    if (is_leaf(u)) return leaves ? decay : 0.0;
    const std::int64_t a = forest.child_start[u], b = forest.child_start[v], n = forest.child_start[u + 1] - a;
    if (forest.child_start[v + 1] - b != n) return 0.0;
    double product = decay;
    for (std::int64_t k = 0; k < n; ++k) {
      const std::int32_t x = forest.child[a + k], y = forest.child[b + k];
      if (forest.label[x] != forest.label[y] || is_leaf(x) != is_leaf(y)) return 0.0;
      if (!is_leaf(x)) product *= frontier + (depth == 1 ? 0.0 : delta(x, y, depth - 1));
    }
    return product;
  }
  double value(std::int64_t s, std::int64_t t, int depth) const {
    double sum = 0.0;
    for (std::int64_t e = forest.tree_start[s]; e < forest.tree_start[s + 1]; ++e) {
      for (std::int64_t f = forest.tree_start[t]; f < forest.tree_start[t + 1]; ++f) {
        sum += static_cast<double>(forest.tree_count[e]) * forest.tree_count[f] *
               delta(forest.tree_subtree[e], forest.tree_subtree[f], depth);
      }
    }
    return sum;
  }
};

std::vector<double> matrix_of(SubsetTreePlan& plan, const std::vector<double>& decay,
                              const std::vector<double>& frontier, int max_depth, int n_threads) {
  Team team(n_threads, {});
  std::vector<double> out(plan.n_rows() * plan.n_columns(), std::nan(""));
  plan.matrix(decay.data(), frontier.data(), max_depth, team, out.data());
  return out;
}

void test_values() {
  Vocabulary vocabulary;
  const ForestArrays forest = interned(random_trees(1, 12), vocabulary);
  const ForestView view = view_of(forest);
  const std::int64_t n = view.n_trees;
  for (const PatternOptions options :
       {PatternOptions{}, PatternOptions{true, false, false}, PatternOptions{false, true, false}}) {
    SubsetTreePlan plan(view, nullptr, options), cross(view, &view, options);
    PatternOptions within = options;
    within.per_tree = true;
    SubsetTreePlan diagonal(view, nullptr, within);
    for (const double frontier : {1.0, 0.3, 1e-9, 0.0}) {
      for (const int depth : {0, 1, 2, 3}) {
        const std::vector<double> decays(plan.n_slots(), 0.4), frontiers(plan.n_slots(), frontier);
        const std::vector<double> one = matrix_of(plan, decays, frontiers, depth, 1);
        CHECK(one == matrix_of(plan, decays, frontiers, depth, 3));
        const std::vector<double> crossed = matrix_of(cross, decays, frontiers, depth, 2);
        const std::vector<double> own = matrix_of(diagonal, decays, frontiers, depth, 2);
        const Slow slow{forest, 0.4, frontier, options.identity, options.leaves};
        for (std::int64_t i = 0; i < n; ++i) {
          CHECK(near(own[i], one[i * n + i], 1e-12));
          for (std::int64_t j = 0; j < n; ++j) {
            CHECK(near(one[i * n + j], slow.value(i, j, depth == 0 ? -1 : depth), 1e-12));
            CHECK(near(crossed[i * n + j], one[i * n + j], 1e-12));
            CHECK(one[i * n + j] == one[j * n + i]);
          }
        }
      }
    }
  }
}

void test_gradients() {
  Vocabulary vocabulary;
  const ForestArrays forest = interned(random_trees(2, 9), vocabulary);
  const ForestView view = view_of(forest);
  for (const bool is_cross : {false, true}) {
    for (const double frontier : {0.7, 0.0}) {
      for (const int depth : {0, 2}) {
        SubsetTreePlan plan(view, is_cross ? &view : nullptr, PatternOptions{});
        std::vector<double> parameters(2 * plan.n_slots(), 0.5);
        std::fill(parameters.begin() + plan.n_slots(), parameters.end(), frontier);
        std::mt19937 random(3);
        std::vector<double> cotangent(plan.n_rows() * plan.n_columns());
        for (double& x : cotangent) x = static_cast<double>(random()) / 4294967296.0 - 0.5;
        const auto pulled = [&](int n_threads) {
          std::vector<double> bar(2 * plan.n_slots(), 0.0);
          Team team(n_threads, {});
          plan.pull_back(parameters.data(), parameters.data() + plan.n_slots(), depth, cotangent.data(), team,
                         bar.data(), bar.data() + plan.n_slots());
          return bar;
        };
        const auto objective = [&](const std::vector<double>& at) {
          const std::vector<double> values = matrix_of(plan, {at.begin(), at.begin() + plan.n_slots()},
                                                       {at.begin() + plan.n_slots(), at.end()}, depth, 1);
          double sum = 0.0;
          for (std::size_t k = 0; k < values.size(); ++k) sum += values[k] * cotangent[k];
          return sum;
        };
        const std::vector<double> bar = pulled(1);
        CHECK(bar == pulled(2));
        for (std::size_t k = 0; k < parameters.size(); ++k) {
          if (k >= static_cast<std::size_t>(plan.n_slots()) && frontier == 0.0) {
            // A frontier of 0 has no left side: one-sided, extrapolated.
            std::vector<double> once = parameters, twice = parameters;
            once[k] += 1e-5;
            twice[k] += 2e-5;
            const double slope = (4 * objective(once) - objective(twice) - 3 * objective(parameters)) / 2e-5;
            CHECK(near(bar[k], slope, 1e-4));
          } else {
            std::vector<double> more = parameters, less = parameters;
            more[k] += 1e-5;
            less[k] -= 1e-5;
            CHECK(near(bar[k], (objective(more) - objective(less)) / 2e-5, 1e-5));
          }
        }
      }
    }
  }
}

void test_deep_and_wide() {
  Vocabulary vocabulary;
  // All pairs of nodes of a chain match.
  const ForestArrays forest = interned({chain(1000), wide_tree(100000)}, vocabulary);
  SubsetTreePlan plan(view_of(forest), nullptr, PatternOptions{});
  const std::vector<double> small(plan.n_slots(), 1e-3);
  const std::vector<double> values = matrix_of(plan, small, small, 2, 2);
  CHECK(std::isfinite(values[0]) && values[1] == 0.0 && near(values[3], 1e-3, 1e-12));
}

void test_empty() {
  Vocabulary vocabulary;
  for (const std::vector<std::string>& texts : {std::vector<std::string>{}, std::vector<std::string>{"(A)"}}) {
    const ForestArrays forest = interned(texts, vocabulary);
    SubsetTreePlan plan(view_of(forest), nullptr, PatternOptions{});
    const std::vector<double> ones(plan.n_slots(), 1.0);
    for (const double value : matrix_of(plan, ones, ones, 0, 2)) CHECK(value == 0.0);
  }
}

}  // namespace

int main() {
  const std::vector<Test> tests = {
      {"values", test_values},
      {"gradients", test_gradients},
      {"deep and wide trees", test_deep_and_wide},
      {"empty corpora", test_empty},
  };
  return run_all("subset_tree_tests", tests);
}
