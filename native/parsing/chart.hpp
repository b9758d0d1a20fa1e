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
#include <memory>
#include <vector>

#include "jobs/team.hpp"

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

// Which coarse symbols may stand over each span of a sentence: those that a parse with a coarse grammar needs which is
// at most `margin` less probable than the best one.
class Chart;
class Allowed {
 public:
  // The chart is of the coarse grammar, whole and with the root over all words. No more than `memory` bytes are taken;
  // where that is not enough, fits() is false.
  Allowed(const GrammarView& coarse, const Chart& chart, double margin, std::int64_t memory, Team* team, int worker);

  bool fits() const { return fits_; }
  bool any(std::int64_t cell) const { return any_[cell]; }
  // By coarse symbol.
  const char* at(std::int64_t cell) const { return table_.data() + cell * n_coarse_; }
  std::int64_t bytes() const { return static_cast<std::int64_t>(table_.size() + any_.size()); }
  // What it took to find out.
  std::int64_t most_bytes() const { return most_bytes_; }

 private:
  std::int64_t n_coarse_, most_bytes_;
  bool fits_;
  std::vector<char> table_, any_;
};

// What is left out to be fast, and to need no more memory than there is.
struct Pruning {
  double beam = std::numeric_limits<double>::infinity();  // how far below the best of its cell an entry may be
  const double* prior = nullptr;                          // by symbol, added to weights when entries are compared
  const Allowed* allowed = nullptr;                       // null where all may stand everywhere
  const std::int32_t* coarse = nullptr;                   // the coarse symbol of each symbol
  const std::int32_t* words_as = nullptr;                 // what the tags of words are here; null where as they are
  std::int64_t memory = std::numeric_limits<std::int64_t>::max();
};

struct Entry {
  std::int32_t symbol;
  double split;  // V0: the best without unary rules on top
  double best;   // V_max_unary
};

// The entries of a span by their symbols; those of base symbols come first.
struct ChartCell {
  const Entry* first = nullptr;
  std::int32_t size = 0, n_base = 0;
  const Entry* begin() const { return first; }
  const Entry* end() const { return first + size; }
};

// The best weight of every symbol over every span.
class Chart {
 public:
  Chart(const GrammarView& grammar, const WordsView& words, const Pruning& pruning, Team* team, int worker);

  std::int64_t n_words() const { return n_; }
  // Spans are numbered by their end, and those of one end by their start.
  static std::int64_t index(std::int64_t i, std::int64_t j) { return j * (j - 1) / 2 + i; }
  const ChartCell& cell(std::int64_t i, std::int64_t j) const { return cells_[index(i, j)]; }
  // The entry of a symbol, or null.
  const Entry* find(std::int64_t i, std::int64_t j, std::int32_t symbol) const;
  std::int64_t n_entries() const { return n_entries_; }
  std::int64_t bytes() const { return bytes_; }
  // False where the memory did not suffice; the chart is of no use then.
  bool fits() const { return fits_; }
  // Whether entries were left out.
  bool is_pruned() const { return is_pruned_; }

 private:
  bool take(std::int64_t bytes);
  Entry* room_for(std::int64_t n);
  void fill_word(std::int64_t i);
  void combine(std::int64_t i, std::int64_t j);
  void finish(std::int64_t i, std::int64_t j);
  void offer(std::int32_t symbol, double weight);
  void prune();
  // Whether a symbol may stand over the span that is filled.
  bool may_stand(std::int32_t symbol) {
    if (!here_ || here_[pruning_.coarse[symbol]]) return true;
    is_pruned_ = true;
    return false;
  }

  const GrammarView& grammar_;
  const WordsView& words_;
  const Pruning& pruning_;
  std::int64_t n_, n_entries_ = 0, bytes_ = 0;
  bool fits_ = true, is_pruned_ = false;
  std::vector<ChartCell> cells_;
  // Entries lie in blocks, so that nothing is ever moved; a cell never crosses two.
  std::vector<std::unique_ptr<Entry[]>> blocks_;
  std::int64_t block_size_ = 0, block_used_ = 0;
  std::vector<double> column_;  // by start of a span that ends where we are, and by base symbol
  // For the cell that is filled, by symbol.
  const char* here_ = nullptr;  // by coarse symbol, whether it may stand here; null where all may
  std::vector<double> split_, best_, next_;
  std::vector<std::int32_t> via_, next_via_;  // the child of the unary rule on top of the best way; -1 for none
  std::vector<char> is_kept_;
  std::vector<std::int32_t> touched_, frontier_, reached_, better_, kept_;
};

}  // namespace espalier
