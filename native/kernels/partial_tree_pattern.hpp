// The pairs of nodes that partial trees compare: those with equal labels, laid out in runs of equal shape.
//
// Delta(u, v) = base + E(u, v), where base is a constant of the label and E is 0 unless some children match. A leaf and
// an inner node with one label match by a base of their own and have no E; their symbols are "twins".
// A node whose only child is a leaf (a "terminal" node) matches another only through that very leaf, so E among
// terminal nodes is a constant on the diagonal and is never stored. All other nodes are "composite"; their rows of E
// are. In a bucket (one label) terminal nodes come first, then composite nodes by height and by shape, the
// sequence of their children's symbols: which children can match is found once for each pair of runs.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/subset_tree_pattern.hpp"

namespace espalier {

struct PartialSide {
  std::int64_t n_nodes = 0, n_trees = 0;   // inner nodes only
  std::vector<std::int64_t> bucket_start;  // by bucket
  std::vector<std::int64_t> n_terminal;    // by bucket
  std::vector<std::int32_t> bucket, word;  // by node; word: the leaf symbol of a terminal node, or -1
  std::vector<std::int64_t> run_start;     // by run of composite nodes, its first node; runs are contiguous per bucket
  std::vector<std::int32_t> run_size, run_shape, run_height, run_bucket;
  std::vector<std::int64_t> bucket_run_start;  // by bucket
  std::vector<std::int64_t> run_child;         // by run: where the children of its nodes start, see child_index
  std::vector<std::int32_t> child;             // nodes; -1 for a leaf, -2 where it can match nothing
  std::vector<std::int64_t> tree_start;        // entries by tree: nodes
  std::vector<std::int32_t> tree_node, tree_count;
  std::vector<std::int64_t> symbol_start;  // entries by tree: symbols of inner nodes and of leaves
  std::vector<std::int32_t> tree_symbol;
  std::vector<std::int64_t> symbol_count;
  // By run: the terminal nodes of the other side with its label and whose leaf one of its children matches, once for
  // each such child; and the bucket of the child, -1 where it is a leaf itself.
  std::vector<std::int64_t> match_start;
  std::vector<std::int32_t> match, match_bucket;

  std::int64_t members(std::int32_t p) const { return bucket_start[p + 1] - bucket_start[p]; }
  std::int64_t position(std::int64_t u) const { return u - bucket_start[bucket[u]]; }
  bool is_terminal(std::int64_t u) const { return position(u) < n_terminal[bucket[u]]; }
  // Where child j of the run's k-th node stands in `child`.
  std::int64_t child_index(std::int64_t run, std::int64_t j, std::int64_t k) const {
    return run_child[run] + j * run_size[run] + k;
  }
};

// Where the nodes, or the symbols, of the columns occur.
struct Occurrences {
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> tree, position;
  std::vector<double> count;
};

struct PartialPattern {
  bool symmetric = false;
  std::int64_t n_columns = 0;
  std::int32_t n_buckets = 0;  // symbols below n_buckets are labels of inner nodes, the others are leaves
  std::int32_t n_symbols = 0;
  std::vector<std::int32_t> twin;         // by symbol: of leaves, the bucket with their label, and back; or -1
  std::vector<std::int32_t> labels;       // label ids; slot n_labels is the leaves'
  std::vector<std::int32_t> slot;         // by bucket
  std::vector<std::int64_t> shape_start;  // symbols of children, -1 where the other side has none
  std::vector<std::int32_t> shape_symbol;
  std::vector<std::int32_t> shape_label;  // the same, with the bucket instead of a leaf that has a twin
  PartialSide rows, columns;              // columns stay empty where symmetric
  Occurrences nodes, symbols;
  std::vector<std::int64_t> entry_end, symbol_end;  // by entry of the rows' trees
  // By row node: E with the column at position j is at row_offset + j; unused where the row is empty.
  std::vector<std::int64_t> row_offset;
  std::vector<std::int64_t> row_first;  // by row node: the first stored position
  std::vector<std::int64_t> partner;    // by terminal row node: the same node among the columns, or -1
  std::int64_t n_pairs = 0, widest = 0;

  const PartialSide& cols() const { return symmetric ? rows : columns; }
  std::int64_t row_end(std::int64_t u) const {
    return symmetric ? rows.position(u) + 1 : columns.members(rows.bucket[u]);
  }
  bool has_row(std::int64_t u) const { return row_first[u] < row_end(u); }
  std::int64_t arity(std::int32_t shape) const { return shape_start[shape + 1] - shape_start[shape]; }
};

PartialPattern make_partial_pattern(const ForestView& a, const ForestView* b, bool per_tree, Listener& listener);

}  // namespace espalier
