// What the tests of the core share: a check that counts its failures, small corpora, and a way to run tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "corpus/forest_view.hpp"
#include "corpus/intern.hpp"
#include "corpus/vocabulary.hpp"

namespace espalier::tests {

inline int n_failed = 0;

#define CHECK(condition)                                                         \
  do {                                                                           \
    if (!(condition)) {                                                          \
      ++espalier::tests::n_failed;                                               \
      std::fprintf(stderr, "%s:%d: %s fails\n", __FILE__, __LINE__, #condition); \
    }                                                                            \
  } while (false)

inline bool near(double value, double expected, double tolerance) {
  return std::abs(value - expected) <= tolerance * std::max(1.0, std::abs(expected));
}

inline ForestArrays interned(const std::vector<std::string>& texts, Vocabulary& vocabulary) {
  Interner interner(vocabulary);
  for (const std::string& text : texts) interner.add_text(text);
  return interner.finish();
}

inline ForestView view_of(const ForestArrays& forest) {
  ForestView view{};
  view.n_subtrees = static_cast<std::int64_t>(forest.label.size());
  view.n_trees = static_cast<std::int64_t>(forest.root.size());
  view.label = forest.label.data();
  view.height = forest.height.data();
  view.child = forest.child.data();
  view.tree_subtree = forest.tree_subtree.data();
  view.tree_count = forest.tree_count.data();
  view.child_start = forest.child_start.data();
  view.tree_start = forest.tree_start.data();
  return view;
}

// Of at most this depth above pre-terminals, with at most this many children.
inline std::string random_tree(std::mt19937& random, int depth, unsigned width) {
  const std::string label(1, static_cast<char>('A' + random() % 3));
  if (depth == 0 || random() % 5 == 0) return "(" + label + " " + static_cast<char>('a' + random() % 3) + ")";
  std::string text = "(" + label;
  const auto n = 1 + random() % width;
  for (unsigned k = 0; k < n; ++k) {
    text += random() % 6 == 0 ? std::string(" w") : " " + random_tree(random, depth - 1, width);
  }
  return text + ")";
}

inline std::vector<std::string> random_trees(unsigned seed, int n, int depth = 4, unsigned width = 3) {
  std::mt19937 random(seed);
  std::vector<std::string> texts(n);
  for (std::string& text : texts) text = random_tree(random, depth, width);
  return texts;
}

inline std::string chain(int depth) {
  std::string text;
  for (int k = 0; k < depth; ++k) text += "(A ";
  return text + "a" + std::string(depth, ')');
}

inline std::string wide_tree(int width) {
  std::string text = "(W";
  for (int k = 0; k < width; ++k) text += " w" + std::to_string(k);
  return text + ")";
}

// Trees with labels that stand at leaves and at inner nodes, alone, below one parent and among many children.
constexpr const char* kTwins[] = {"(A A (w (C c)) w (B b))", "(w a)", "(A (w w))", "(B (A a) A w (A (w b) B) C w)"};

// Between -1 and 1.
inline std::vector<double> random_numbers(unsigned seed, int n) {
  std::mt19937 random(seed);
  std::vector<double> out(n);
  for (double& value : out) value = static_cast<double>(random() % 200) / 100.0 - 1.0;
  return out;
}

// Gradients by one list of numbers in the settings against central differences of weighed(settings).
template <class Weighed, class Settings>
void check_gradient(const Weighed& weighed, std::vector<double> Settings::* which, const std::vector<double>& found,
                    const Settings& at = Settings()) {
  for (std::size_t k = 0; k < found.size(); ++k) {
    Settings up = at, down = at;
    (up.*which)[k] += 1e-6;
    (down.*which)[k] -= 1e-6;
    CHECK(near(found[k], (weighed(up) - weighed(down)) / 2e-6, 1e-6));
  }
}

using Test = std::pair<const char*, std::function<void()>>;

// Runs all tests and tells how each went; returns what the program returns.
inline int run_all(const char* program, const std::vector<Test>& tests) {
  for (const auto& [name, test] : tests) {
    const int before = n_failed;
    test();
    std::printf("%s: %s %s\n", program, name, n_failed == before ? "passed" : "FAILED");
  }
  return n_failed == 0 ? 0 : 1;
}

}  // namespace espalier::tests
