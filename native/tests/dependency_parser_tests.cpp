// The dependency parser from training to labelled trees on small random treebanks, under every sanitizer.
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "jobs/team.hpp"
#include "parsing/dependency_parser.hpp"
#include "parsing/dependency_training.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

constexpr std::int32_t kLabels = 3;
constexpr HeadPruning kPruning{1e-3, 4};

// Sentences of 0 to 8 words in which every word hangs on a word beside it or on the root, so that no arcs cross.
struct RandomTreebank {
  std::vector<std::int64_t> start{0};
  std::vector<Token> token;
  std::vector<std::int32_t> head, label;

  RandomTreebank(unsigned seed, int n_sentences) {
    std::mt19937 random(seed);
    for (int s = 0; s < n_sentences; ++s) {
      const auto n = static_cast<std::int32_t>(random() % 9);
      const auto root = n == 0 ? 0 : static_cast<std::int32_t>(1 + random() % static_cast<unsigned>(n));
      for (std::int32_t m = 0; m <= n; ++m) {
        const auto word = static_cast<std::int32_t>(random() % 5);
        Token own{};
        if (m > 0) own.word = own.tag = own.coarse = own.suffix = word + 2;
        token.push_back(own);
        head.push_back(m == 0 ? -1 : m == root ? 0 : m < root ? m + 1 : m - 1);
        label.push_back(m == 0 ? -1 : word % kLabels);
      }
      start.push_back(static_cast<std::int64_t>(token.size()));
    }
  }
  DependencyView view() const { return {std::ssize(start) - 1, start.data(), token.data(), head.data()}; }
};

struct Trained {
  RandomTreebank treebank;
  LargeVector<float> pruner, parser;
  SparseClassifier labels;
  int order;

  Trained(unsigned seed, int parts_order) : treebank(seed, 40), labels(train(seed)), order(parts_order) {
    Team team(1, nullptr);
    std::vector<std::int64_t> rows;
    for (std::int64_t s = 0; s < treebank.view().n_sentences; ++s) rows.push_back(s);
    pruner = train_pruner(treebank.view(), rows, {12, 2, 0.1, seed}, team);
    const std::vector<std::int32_t> part(rows.size(), 0);
    parser = train_parser(
        treebank.view(), {{pruner.data(), 12}}, part.data(),
        {12, 3, order, seed % 2 ? Learning::kMira : Learning::kSoftmaxMargin, 0.1, 1.0, 4, false, kPruning, seed},
        team);
  }
  DependencyModel model() const {
    return {{pruner.data(), 12}, {parser.data(), 12}, &labels, kLabels, order, false, kPruning};
  }

 private:
  SparseClassifier train(unsigned seed) const {
    Team team(1, nullptr);
    return SparseClassifier(train_labels(treebank.view(), treebank.label.data(), {kLabels, 3, seed}, team));
  }
};

void test_scores_of_parses() {
  for (unsigned seed = 0; seed < 6; ++seed) {
    const Trained trained(seed, 1 + static_cast<int>(seed % 3));
    const DependencyView view = trained.treebank.view();
    Team one(1, nullptr), three(3, nullptr);
    const auto found = parse_dependencies(trained.model(), view, 5, 1 << 20, one);
    const auto again = parse_dependencies(trained.model(), view, 5, 1 << 20, three);
    for (std::int64_t s = 0; s < view.n_sentences; ++s) {
      CHECK(found[s].best.empty() == (view.n_words(s) == 0));
      CHECK(found[s].best.size() == again[s].best.size());
      for (std::size_t k = 0; k < found[s].best.size(); ++k) {
        CHECK(found[s].best[k].head == again[s].best[k].head);
        const LabelledTree& labelled = found[s].labelled[k];
        CHECK(labelled.label == again[s].labelled[k].label && labelled.score == again[s].labelled[k].score);
        CHECK(k == 0 || found[s].best[k].score <= found[s].best[k - 1].score);
        const std::vector<std::int64_t> start{0, view.n_words(s) + 1};
        const DependencyView tree{1, start.data(), view.tokens(s), found[s].best[k].head.data()};
        CHECK(label_trees(trained.labels, kLabels, tree, one)[0].score == labelled.score);
        CHECK(score_trees({trained.parser.data(), 12}, trained.order, tree, one)[0] == found[s].best[k].score);
        for (std::int32_t m = 1; m <= view.n_words(s); ++m) {
          CHECK(labelled.label[m] >= 0 && labelled.label[m] < kLabels);
        }
      }
    }
  }
}

// Labels follow the words here, so all must be learned.
void test_labels_are_learned() {
  const Trained trained(3, 2);
  const DependencyView view = trained.treebank.view();
  SentenceKeys keys;
  for (std::int64_t s = 0; s < view.n_sentences; ++s) {
    keys.set(view.tokens(s), view.n_words(s));
    TreeLabeller labeller(trained.labels, keys, kLabels);
    const auto first = labeller(view.heads(s)), second = labeller(view.heads(s));
    CHECK(first.label == second.label && first.score == second.score);
    CHECK(first.score <= 0.0 && first.score > -view.n_words(s) * std::log(static_cast<double>(kLabels)) - 1e-9);
    for (std::int32_t m = 0; m <= view.n_words(s); ++m) {
      CHECK(first.label[m] == trained.treebank.label[view.start[s] + m]);
    }
  }
}

void test_little_memory_narrows() {
  const Trained trained(1, 2);
  Team team(1, nullptr);
  const auto found = parse_dependencies(trained.model(), trained.treebank.view(), 1, 100, team);
  bool any = false;
  for (std::int64_t s = 0; s < trained.treebank.view().n_sentences; ++s) {
    any |= found[s].narrowed;
    CHECK(found[s].best.size() == (trained.treebank.view().n_words(s) > 0 ? 1 : 0));
  }
  CHECK(any);
}

}  // namespace

int main() {
  return run_all("dependency_parser_tests", {{"scores of parses", test_scores_of_parses},
                                             {"labels are learned", test_labels_are_learned},
                                             {"little memory narrows", test_little_memory_narrows}});
}
