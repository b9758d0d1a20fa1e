// Combinations of trees as one forest: values against those of the kernel.
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "corpus/vocabulary.hpp"
#include "jobs/pace.hpp"
#include "jobs/team.hpp"
#include "kernels/subset_tree.hpp"
#include "rerank/compressed_trees.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

void test_combinations() {
  std::mt19937 random(5);
  std::vector<std::string> texts;
  for (int k = 0; k < 30; ++k) texts.push_back(random_tree(random, 4, 3));
  Vocabulary vocabulary;
  const ForestArrays forest = interned(texts, vocabulary);
  const ForestView view = view_of(forest);
  for (std::int32_t max_depth : {0, 1, 3}) {
    SubsetTreePlan plan(view, nullptr, {});
    const std::vector<double> decay(plan.n_slots(), 0.6), frontier(plan.n_slots(), 0.8);
    std::vector<double> matrix(30 * 30);
    Team team(1, nullptr);
    plan.matrix(decay.data(), frontier.data(), max_depth, team, matrix.data());
    const auto n_labels = static_cast<std::size_t>(vocabulary.size());
    CompressedTrees model({std::vector<double>(n_labels, 0.6), std::vector<double>(n_labels, 0.8), 0.0, max_depth});
    std::vector<double> expected(30, 0.0), found(30);
    for (int t = 0; t < 20; ++t) {
      const double coefficient = static_cast<double>(random() % 200) / 100.0 - 1.0;
      model.add(view, t, coefficient);
      for (int s = 0; s < 30; ++s) expected[s] += coefficient * matrix[s * 30 + t];
    }
    Pace pace(team, 0);
    model.scores(view, 0, 30, pace, found.data());
    for (int s = 0; s < 30; ++s) CHECK(near(found[s], expected[s], 1e-10));
    model.scores(view, 7, 9, pace, found.data());
    CHECK(near(found[0], expected[7], 1e-10) && near(found[1], expected[8], 1e-10));
    CHECK(model.n_bytes() > 8 * model.n_subtrees() && model.n_bytes_in_all() > model.n_bytes());
  }
}

}  // namespace

int main() {
  const std::vector<Test> tests = {
      {"combinations", test_combinations},
  };
  return run_all("compressed_trees_tests", tests);
}
