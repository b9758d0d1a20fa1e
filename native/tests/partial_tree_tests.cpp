// Partial trees: values against a slow recursion over pairs of nodes, gradients against differences. The Python tests
// hold the definition itself.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "corpus/vocabulary.hpp"
#include "jobs/team.hpp"
#include "kernels/partial_tree.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

// Partial trees by their definition: the weight of the pairs of subsequences that end at children i and j.
double slow_partial_delta(const ForestArrays& forest, std::int32_t u, std::int32_t v, double decay,
                          double depth_decay) {
  if (forest.label[u] != forest.label[v]) return 0.0;
  const std::int64_t a = forest.child_start[u], b = forest.child_start[v];
  const std::int64_t n = forest.child_start[u + 1] - a, m = forest.child_start[v + 1] - b;
  std::vector<double> ending(n * m);
  double sum = decay * decay;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < m; ++j) {
      double before = 1.0;
      for (std::int64_t k = 0; k < i; ++k) {
        for (std::int64_t l = 0; l < j; ++l) before += std::pow(decay, i - k + j - l - 2) * ending[k * m + l];
      }
      ending[i * m + j] =
          before * slow_partial_delta(forest, forest.child[a + i], forest.child[b + j], decay, depth_decay);
      sum += ending[i * m + j];
    }
  }
  return depth_decay * sum;
}

void test_values_and_gradients() {
  Vocabulary vocabulary;
  std::vector<std::string> texts = random_trees(4, 9);
  for (const char* text : kTwins) texts.emplace_back(text);
  const ForestArrays forest = interned(texts, vocabulary);
  const ForestView view = view_of(forest);
  const std::int64_t n = view.n_trees;
  for (const bool is_cross : {false, true}) {
    PartialTreePlan plan(view, is_cross ? &view : nullptr, false), diagonal(view, nullptr, true);
    const std::size_t n_slots = plan.pattern().labels.size() + 1;
    std::vector<double> parameters(2 * n_slots, 0.4);
    std::fill(parameters.begin() + n_slots, parameters.end(), 0.6);
    const auto matrix = [&](PartialTreePlan& which, const std::vector<double>& at, int n_threads) {
      Team team(n_threads, {});
      std::vector<double> out(which.n_rows() * which.n_columns(), std::nan(""));
      which.matrix(at.data(), at.data() + n_slots, team, out.data());
      return out;
    };
    const std::vector<double> values = matrix(plan, parameters, 1), own = matrix(diagonal, parameters, 2);
    CHECK(values == matrix(plan, parameters, 3));
    for (std::int64_t s = 0; s < n; ++s) {
      CHECK(near(own[s], values[s * n + s], 1e-12));
      for (std::int64_t t = 0; t < n; ++t) {
        double sum = 0.0;
        for (std::int64_t e = forest.tree_start[s]; e < forest.tree_start[s + 1]; ++e) {
          for (std::int64_t f = forest.tree_start[t]; f < forest.tree_start[t + 1]; ++f) {
            sum += static_cast<double>(forest.tree_count[e]) * forest.tree_count[f] *
                   slow_partial_delta(forest, forest.tree_subtree[e], forest.tree_subtree[f], 0.4, 0.6);
          }
        }
        CHECK(near(values[s * n + t], sum, 1e-12));
      }
    }
    std::mt19937 random(5);
    std::vector<double> cotangent(n * n);
    for (double& x : cotangent) x = static_cast<double>(random()) / 4294967296.0 - 0.5;
    const auto pulled = [&](int n_threads) {
      std::vector<double> bar(2 * n_slots, 0.0);
      Team team(n_threads, {});
      plan.pull_back(parameters.data(), parameters.data() + n_slots, cotangent.data(), team, bar.data(),
                     bar.data() + n_slots);
      return bar;
    };
    const std::vector<double> bar = pulled(1);
    CHECK(bar == pulled(2));
    for (std::size_t k = 0; k < parameters.size(); ++k) {
      double slope = 0.0;
      for (const double step : {1e-5, -1e-5}) {
        std::vector<double> moved = parameters;
        moved[k] += step;
        const std::vector<double> there = matrix(plan, moved, 1);
        for (std::size_t c = 0; c < there.size(); ++c) slope += there[c] * cotangent[c] / (2 * step);
      }
      CHECK(near(bar[k], slope, 1e-5));
    }
  }
}

}  // namespace

int main() {
  const std::vector<Test> tests = {
      {"values and gradients", test_values_and_gradients},
  };
  return run_all("partial_tree_tests", tests);
}
