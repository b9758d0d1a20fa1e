// Which pairs of subtrees can be non-zero, laid out for the loops that compute them.
//
// The subtrees of the rows' trees and of the columns' trees are put into buckets: only two of one
// bucket can match. A node of the pattern is a subtree of one side; nodes are numbered bucket by bucket.
// Inside a bucket nodes stand by height and then by their last inner child, so that a row of a triangle
// needs only rows of smaller height, and reads the last child's row from left to right.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/forest_view.hpp"
#include "jobs/listener.hpp"

namespace espalier {

struct PatternOptions {
  bool identity = false;  // buckets hold one distinct subtree, not one production
  bool leaves = false;    // leaves are nodes too
  bool per_tree = false;  // only pairs within one tree: the diagonal
};

// The nodes of one side.
struct PatternSide {
  std::int64_t n_nodes = 0, n_trees = 0;
  std::vector<std::int64_t> bucket_start;    // nodes of a bucket are contiguous
  std::vector<std::int32_t> bucket, height;  // by node
  // By bucket, into child: child i of node u is child[base + i * members + position].
  std::vector<std::int64_t> child_base;
  std::vector<std::int32_t> child;       // nodes, -1 where that bucket has no partner on the other side
  std::vector<std::int64_t> tree_start;  // entries by tree
  std::vector<std::int32_t> tree_node, tree_count;

  std::int64_t members(std::int32_t p) const { return bucket_start[p + 1] - bucket_start[p]; }
  std::int32_t child_of(std::int64_t u, std::int64_t i) const {
    const std::int32_t p = bucket[u];
    return child[child_base[p] + i * members(p) + (u - bucket_start[p])];
  }
};

// The columns in which child i of a bucket's production lies in one given bucket.
struct MatchLists {
  std::vector<std::int64_t> start;                     // by list
  std::vector<std::int32_t> bucket;                    // by list: the bucket of the child
  std::vector<std::int32_t> position, child_position;  // ascending positions in the parent's bucket
};

struct Pattern {
  bool symmetric = false;
  std::int64_t n_columns = 0;  // of the matrix: 1 for a diagonal
  std::int32_t n_buckets = 0;
  std::vector<std::int32_t> labels;       // label ids of inner nodes; slot n_labels is the leaves'
  std::vector<std::int32_t> slot, arity;  // by bucket
  std::vector<char> is_child;             // by bucket: some parent pair reads it
  PatternSide rows, columns;              // columns stay empty where symmetric
  MatchLists lists;
  // By row node u and child i at row_child_start[u] + i: the list of matching columns and its end for this row.
  std::vector<std::int64_t> row_child_start;
  std::vector<std::int32_t> row_list;
  std::vector<std::int64_t> row_list_end;
  std::vector<char> row_ahead;  // where symmetric: no listed column's child stands behind this row's child
  // Where each column node occurs, in node order.
  std::vector<std::int64_t> where_start;
  std::vector<std::int32_t> where_tree, where_position;
  std::vector<double> where_count;
  std::vector<char> unit;                // by bucket: every count is 1
  std::vector<std::int64_t> entry_end;   // by entry of the rows' trees: where its columns end
  std::vector<std::int64_t> row_start;   // by row node: its offset among all pairs
  std::vector<std::int64_t> kept_start;  // by row node: its offset among the pairs kept for parents, or -1
  std::int64_t n_pairs = 0, n_kept = 0;

  const PatternSide& cols() const { return symmetric ? rows : columns; }
  std::int64_t position(std::int64_t u) const { return u - rows.bucket_start[rows.bucket[u]]; }
  std::int64_t row_length(std::int64_t u) const {
    return symmetric ? position(u) + 1 : columns.members(rows.bucket[u]);
  }
};

Pattern make_pattern(const ForestView& a, const ForestView* b, PatternOptions options, Listener& listener);

}  // namespace espalier
