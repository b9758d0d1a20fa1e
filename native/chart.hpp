// Chart parsing with a weighted grammar whose rules have one or two symbols on their right side.
//
// Longer rules are cut from the left: a prefix of a right side is a symbol of its own, so that the right child of a
// binary rule is always a whole constituent. Symbols below n_base are those; the others are prefixes. A constituent may
// be rewritten by at most max_unary unary rules, one after the other, before it is split or becomes a word. With
// V0(A) for the best way to split A or to take it as a word,
//   V_l(A) = max(V0(A), max over rules A -> C of weight + V_(l-1)(C)),   l = 1 .. max_unary.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "team.hpp"

namespace espalier {

inline constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// Rules as arrays owned by the caller. Weights are log probabilities.
struct GrammarView {
  std::int32_t n_symbols, n_base, root, max_unary;
  // Binary rules by their left child.
  const std::int64_t* left_start;
  const std::int32_t *right, *parent;
  const double* weight;
  // The numbers of binary rules by their parent, and each rule's left child.
  const std::int64_t* parent_start;
  const std::int32_t *parent_rule, *left;
  // Unary rules by their child, and by their parent.
  const std::int64_t* up_start;
  const std::int32_t* up_parent;
  const double* up_weight;
  const std::int64_t* down_start;
  const std::int32_t* down_child;
  const double* down_weight;
};

// The words of a sentence: the tags that each may have, and their weights.
struct WordsView {
  std::int64_t n_words;
  const std::int64_t* start;
  const std::int32_t* tag;
  const double* weight;
};

// What is left out to be fast.
struct Pruning {
  double beam = std::numeric_limits<double>::infinity();  // how far below the best of its cell an entry may be
  const double* prior = nullptr;                          // by symbol, added to weights when entries are compared
};

struct Entry {
  std::int32_t symbol;
  double split;  // V0: the best without unary rules on top
  double best;   // V_max_unary
};

// The best weight of every symbol over every span.
class Chart {
 public:
  Chart(const GrammarView& grammar, const WordsView& words, const Pruning& pruning, Team* team, int worker);

  std::int64_t n_words() const { return n_; }
  const std::vector<Entry>& cell(std::int64_t i, std::int64_t j) const { return cells_[index(i, j)]; }
  // The entry of a symbol, or null.
  const Entry* find(std::int64_t i, std::int64_t j, std::int32_t symbol) const;
  std::int64_t n_entries() const;

 private:
  std::int64_t index(std::int64_t i, std::int64_t j) const { return i * (n_ + 1) + j; }
  void fill_word(std::int64_t i);
  void combine(std::int64_t i, std::int64_t j);
  void finish(std::int64_t i, std::int64_t j);
  void offer(std::int32_t symbol, double weight);
  void prune();

  const GrammarView& grammar_;
  const WordsView& words_;
  const Pruning& pruning_;
  std::int64_t n_;
  std::vector<std::vector<Entry>> cells_;
  std::vector<double> column_;  // by start of a span that ends where we are, and by base symbol
  // For the cell that is filled, by symbol.
  std::vector<double> split_, best_, next_;
  std::vector<std::int32_t> via_, next_via_;  // the child of the unary rule on top of the best way; -1 for none
  std::vector<char> is_kept_;
  std::vector<std::int32_t> touched_, frontier_, reached_, kept_;
};

}  // namespace espalier
