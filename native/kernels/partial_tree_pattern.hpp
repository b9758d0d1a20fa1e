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

#include "jobs/listener.hpp"
#include "kernels/runs.hpp"

namespace espalier {

// A child is -1 where it is a leaf, and -2 where it can match nothing. Runs are those of composite nodes.
struct PartialSide : RunSide {
  std::vector<std::int64_t> n_terminal;    // by bucket
  std::vector<std::int32_t> word;          // by node: the leaf symbol of a terminal node, or -1
  std::vector<std::int64_t> symbol_start;  // entries by tree: symbols of inner nodes and of leaves
  std::vector<std::int32_t> tree_symbol;
  std::vector<std::int64_t> symbol_count;
  // By run: the terminal nodes of the other side with its label and whose leaf one of its children matches, once for
  // each such child; and the bucket of the child, -1 where it is a leaf itself.
  std::vector<std::int64_t> match_start;
  std::vector<std::int32_t> match, match_bucket;

  bool is_terminal(std::int64_t u) const { return position(u) < n_terminal[bucket[u]]; }
};

// Symbols below n_buckets are labels of inner nodes, the others are leaves.
struct PartialPattern : RunPattern<PartialSide> {
  std::int32_t n_symbols = 0;
  std::vector<std::int32_t> twin;         // by symbol: of leaves, the bucket with their label, and back; or -1
  std::vector<std::int32_t> shape_label;  // as shape_symbol, with the bucket instead of a leaf that has a twin
  Occurrences symbols;
  std::vector<std::int64_t> symbol_end;  // by entry of the rows' trees: as entry_end
  // By row node: E with the column at position j is at row_offset + j; unused where the row is empty.
  std::vector<std::int64_t> row_offset;
  std::vector<std::int64_t> row_first;  // by row node: the first stored position
  std::vector<std::int64_t> partner;    // by terminal row node: the same node among the columns, or -1

  std::int64_t row_end(std::int64_t u) const {
    return symmetric ? rows.position(u) + 1 : columns.members(rows.bucket[u]);
  }
  bool has_row(std::int64_t u) const { return row_first[u] < row_end(u); }
};

PartialPattern make_partial_pattern(const ForestView& a, const ForestView* b, bool per_tree, Listener& listener);

}  // namespace espalier
