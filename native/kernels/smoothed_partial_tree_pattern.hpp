// The pairs of nodes that smoothed partial trees compare, laid out in runs of equal shape.
//
// Leaves are words; any two of them may match. A leaf and an inner node match by their labels alone, by a formula. A node
// whose only child is a leaf is "terminal": two terminal nodes match
// by a formula of their labels and words, which is never stored. All other pairs of inner nodes with matching labels
// are, in a block for each pair of labels. In a bucket (one label) terminal nodes come first, as a run of their own,
// then the others by height and by shape, the sequence of their children's symbols.
#pragma once

#include <cstdint>
#include <vector>

#include "jobs/listener.hpp"
#include "kernels/runs.hpp"

namespace espalier {

// A child is -1 where it is a leaf or can match nothing. Terminal nodes have a run of height 0 of their own.
struct SmoothedSide : RunSide {
  std::vector<std::int32_t> words;           // label ids of leaves
  std::vector<std::int64_t> terminal_start;  // by bucket, among all terminal nodes
  std::vector<std::int32_t> word;            // by terminal node
  std::vector<std::int32_t> terminal_bucket;
  std::vector<std::int32_t> child_word;   // the word of a leaf or of a terminal node, or -1
  std::vector<std::int64_t> light_start;  // entries by tree: words, and behind all words terminal nodes
  std::vector<std::int32_t> light;
  std::vector<double> light_count;
  std::vector<std::int64_t> label_start;  // entries by tree: slots of inner nodes whose label may match a leaf
  std::vector<std::int32_t> tree_label;
  std::vector<double> label_count;

  std::int64_t n_words() const { return static_cast<std::int64_t>(words.size()); }
  std::int64_t n_lights() const { return n_words() + static_cast<std::int64_t>(word.size()); }
  std::int64_t n_terminal(std::int32_t p) const { return terminal_start[p + 1] - terminal_start[p]; }
  bool only_terminals(std::int32_t p) const { return members(p) == n_terminal(p); }
  bool is_terminal(std::int64_t u) const { return position(u) < n_terminal(bucket[u]); }
  std::int32_t word_of(std::int64_t u) const { return word[terminal_start[bucket[u]] + position(u)]; }
};

// Where pairs of rows with label p and columns with label q are stored.
struct Block {
  std::int32_t p, q;
  bool is_triangle;  // one label in a symmetric matrix: columns up to the row
  std::int64_t offset, n_columns, row_terminals, column_terminals;

  // Where the pair of row i and column j stands, less j.
  std::int64_t row(std::int64_t i) const {
    if (is_triangle) return offset + (i * (i + 1) - row_terminals * (row_terminals + 1)) / 2;
    const std::int64_t narrow = n_columns - column_terminals;
    if (i < row_terminals) return offset + i * narrow - column_terminals;
    return offset + row_terminals * narrow + (i - row_terminals) * n_columns;
  }
  std::int64_t first(std::int64_t i) const { return i < row_terminals ? (is_triangle ? i + 1 : column_terminals) : 0; }
  std::int64_t end(std::int64_t i) const { return is_triangle ? i + 1 : n_columns; }
};

// The symbol of leaves in shapes is n_buckets; entry_end is where columns end in a triangle.
struct SmoothedPattern : RunPattern<SmoothedSide> {
  bool per_tree = false, soft_labels = false;
  // By slot: its number among the labels that the rows have, and among those of the columns; -1 where they have it not.
  std::vector<std::int32_t> row_label, column_label;
  std::int64_t n_row_labels = 0, n_column_labels = 0;
  std::vector<std::int32_t> group_first;  // by bucket: the buckets that may match it are group_first .. group_end - 1
  std::vector<std::int32_t> group_end;
  std::vector<std::int32_t> same_word;     // by word of the rows: the same among the columns, or -1
  std::vector<std::int32_t> slot_of_word;  // by word of the rows: the slot of inner nodes with this label, or -1
  // By slot: the word with this label among those of the rows, and of the columns; or -1.
  std::vector<std::int32_t> row_word, column_word;

  // Set by link_blocks.
  std::vector<char> row_meets, column_meets;  // by slot: whether its inner nodes match some leaf of the other side
  std::vector<Block> blocks;
  std::vector<std::int64_t> block_start;  // by bucket of the rows
  // Where labels match softly, by a bucket of the rows and one of the columns in its group: the block, or -1.
  std::vector<std::int32_t> block_of;
  std::vector<std::int64_t> block_of_row;     // by bucket: where it starts in block_of
  std::vector<std::int32_t> column_in_group;  // by bucket: its number among its group's that the columns have, or -1

  bool is_linked() const { return !block_start.empty(); }
  // Whether a leaf of the rows, or else of the columns, may match an inner node of the other side.
  bool may_match_leaf(std::int32_t bucket, bool is_row_leaf) const {
    return (is_row_leaf ? column_meets : row_meets)[slot[bucket]] != 0;
  }
  // The block of two labels in the order in which it stores them, or -1.
  std::int32_t find_block(std::int32_t p, std::int32_t q) const {
    if (soft_labels) {
      const bool apart = q < group_first[p] || q >= group_end[p] || column_in_group[q] < 0;
      return apart ? -1 : block_of[block_of_row[p] + column_in_group[q]];
    }
    return p == q && block_start[p] < block_start[p + 1] ? static_cast<std::int32_t>(block_start[p]) : -1;
  }
  // Calls visit(q) for the labels of columns that match label p of rows, in their order.
  template <class Visit>
  void each_match(std::int32_t p, const Visit& visit) const {
    if (!soft_labels) return visit(p);
    for (std::int32_t q = group_first[p]; q < group_end[p]; ++q) {
      if ((symmetric && q > p ? find_block(q, p) : find_block(p, q)) >= 0) visit(q);
    }
  }
};

SmoothedPattern make_smoothed_pattern(const ForestView& a, const ForestView* b, bool per_tree, bool soft_labels,
                                      Listener& listener);

// Similarities of the rows' labels and words with those of the columns; see SmoothedSettings.
struct LabelTables {
  const double *labels = nullptr, *word_labels = nullptr, *label_words = nullptr;
};

// Lays out the blocks. Where labels match softly, those do whose similarity is not 0; else only equal ones.
void link_blocks(SmoothedPattern& pattern, const LabelTables& similarity);

}  // namespace espalier
