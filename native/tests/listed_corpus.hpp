// A small corpus with numbers for all that a kernel machine has, and its fragments listed.
#pragma once

#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "corpus/productions.hpp"
#include "corpus/vocabulary.hpp"
#include "spaces/partial_tree_mining.hpp"
#include "spaces/subset_tree_mining.hpp"
#include "tests/checks.hpp"
#include "tests/listed_fragments.hpp"

namespace espalier::tests {

constexpr std::int64_t kMany = 1'000'000, kNoLimit = std::numeric_limits<std::int64_t>::max();

// Between low and high.
inline std::vector<double> random_numbers(unsigned seed, std::size_t n, double low, double high) {
  std::mt19937 random(seed);
  std::vector<double> out(n);
  for (double& x : out) x = low + (high - low) * static_cast<double>(random()) / 4294967296.0;
  return out;
}

// A corpus, a decay and a frontier for each label, a mass for each subtree, and all of its fragments.
struct Corpus {
  Vocabulary vocabulary;
  ForestArrays arrays;
  ForestView forest;
  Productions productions;
  std::vector<double> decay, frontier, mass;
  std::vector<std::vector<Listed>> listed;

  Corpus(const std::vector<std::string>& texts, double most_frontier, unsigned seed = 11)
      : arrays(interned(texts, vocabulary)), forest(view_of(arrays)), productions(number_productions(forest)) {
    decay = random_numbers(seed, vocabulary.size(), 0.1, 1.5);
    frontier = random_numbers(seed + 1, vocabulary.size(), 0.0, most_frontier);
    const std::vector<double> coefficient = random_numbers(seed + 2, forest.n_trees, -1.0, 1.0);
    mass.assign(forest.n_subtrees, 0.0);
    for_entries([&](std::int64_t tree, std::int32_t u, double count) { mass[u] += coefficient[tree] * count; });
    listed = list_fragments(forest, vocabulary, productions, decay.data(), frontier.data());
  }
  Corpus(const Corpus&) = delete;
  Corpus& operator=(const Corpus&) = delete;

  // Calls visit(tree, subtree, how often the tree holds it).
  template <class Visit>
  void for_entries(const Visit& visit) const {
    for (std::int64_t tree = 0; tree < forest.n_trees; ++tree) {
      for (std::int64_t e = forest.tree_start[tree]; e < forest.tree_start[tree + 1]; ++e) {
        visit(tree, forest.tree_subtree[e], static_cast<double>(forest.tree_count[e]));
      }
    }
  }
  std::vector<double> counts_in(std::int64_t which) const {
    std::vector<double> out(forest.n_subtrees, 0.0);
    for_entries([&](std::int64_t tree, std::int32_t u, double count) { out[u] += tree == which ? count : 0.0; });
    return out;
  }
  // In one tree, less in another, where they are not the same.
  std::vector<double> counts_between(std::int64_t first, std::int64_t second, double unit) const {
    std::vector<double> out = counts_in(first);
    const std::vector<double> other = counts_in(second);
    for (std::size_t u = 0; u < out.size(); ++u) out[u] -= unit * other[u];
    return out;
  }
  SubsetSearch search(int max_depth = 0, int max_size = 0, const double* count = nullptr) const {
    return {forest, productions, mass.data(), {decay.data(), frontier.data(), max_depth, max_size}, count};
  }
  // Leaves have numbers of their own.
  PartialWeights partial_weights() const { return {decay.data(), frontier.data(), 0.7, 1.3}; }
};

// Few enough fragments to list. The first label stands above itself, a word is spelled like a label, a tree comes twice
// and stands twice in another, and one node has many children.
inline std::vector<std::string> small_trees(unsigned seed, int n) {
  std::vector<std::string> texts{"(A (A (A (A a)) (A (A a))))", "(A A (B b))",
                                 "(A (B b) (B (A a)))",         "(A (B b) (B (A a)))",
                                 "(C (A A (B b)) (A A (B b)))", "(A (B b) (C c) w (B b) (C (B b)) (B b))"};
  for (const std::string& text : random_trees(seed, n, 3, 2)) texts.push_back(text);
  return texts;
}

// No tree at all, one word, and one production.
inline const std::vector<std::vector<std::string>> kTiny = {{}, {"(A)"}, {"(A a)"}};

// The labels of one corpus by the numbers of another.
inline std::vector<std::int32_t> translated(const Vocabulary& from, const Vocabulary& to) {
  std::vector<std::int32_t> out(from.size());
  for (std::int32_t label = 0; label < from.size(); ++label) out[label] = to.find(from.label(label));
  return out;
}

}  // namespace espalier::tests
