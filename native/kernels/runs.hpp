// Inner nodes of one side in buckets, and in a bucket in runs of equal shape: the sequence of their children's symbols.
//
// What the patterns of partial and of smoothed partial trees share. Which children can match is found once for each pair
// of runs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "corpus/forest_view.hpp"
#include "corpus/key_table.hpp"
#include "kernels/collected.hpp"
#include "kernels/occurrences.hpp"

namespace espalier {

struct RunSide {
  std::int64_t n_nodes = 0, n_trees = 0;   // inner nodes only
  std::vector<std::int64_t> bucket_start;  // by bucket
  std::vector<std::int32_t> bucket;        // by node
  std::vector<std::int64_t> run_start;     // by run, its first node; runs are contiguous per bucket
  std::vector<std::int32_t> run_size, run_shape, run_height, run_bucket;
  std::vector<std::int64_t> bucket_run_start;  // by bucket
  std::vector<std::int64_t> run_child;         // by run: where the children of its nodes start, see child_index
  std::vector<std::int32_t> child;             // nodes; negative where a child is none that can match
  std::vector<std::int64_t> tree_start;        // entries by tree: nodes
  std::vector<std::int32_t> tree_node, tree_count;

  std::int64_t members(std::int32_t p) const { return bucket_start[p + 1] - bucket_start[p]; }
  std::int64_t position(std::int64_t u) const { return u - bucket_start[bucket[u]]; }
  // Where child j of the run's k-th node stands in `child`.
  std::int64_t child_index(std::int64_t run, std::int64_t j, std::int64_t k) const {
    return run_child[run] + j * run_size[run] + k;
  }
};

// What a pattern over runs holds, whichever of its nodes match.
template <class Side>
struct RunPattern {
  bool symmetric = false;
  std::int64_t n_columns = 0;
  std::int32_t n_buckets = 0;
  std::vector<std::int32_t> labels;       // label ids of inner nodes; slot n_labels is the leaves'
  std::vector<std::int32_t> slot;         // by bucket
  std::vector<std::int64_t> shape_start;  // symbols of children, -1 where one can match nothing
  std::vector<std::int32_t> shape_symbol;
  Side rows, columns;                   // columns stay empty where symmetric
  Occurrences nodes;                    // of the columns
  std::vector<std::int64_t> entry_end;  // by entry of the rows' trees: where its columns end
  std::int64_t n_pairs = 0, widest = 0;

  const Side& cols() const { return symmetric ? rows : columns; }
  std::int64_t arity(std::int32_t shape) const { return shape_start[shape + 1] - shape_start[shape]; }
  void set_shapes(const KeyTable& shapes) {
    shape_start = shapes.starts();
    shape_symbol = shapes.pool();
    for (std::int32_t shape = 0; shape < shapes.size(); ++shape) widest = std::max(widest, arity(shape));
  }
};

// Numbers labels in the order in which they come.
class Slots {
 public:
  explicit Slots(std::vector<std::int32_t>& labels) : labels_(labels) {}
  std::int32_t of(std::int32_t label) {
    if (label >= static_cast<std::int32_t>(slot_.size())) slot_.resize(label + 1, -1);
    if (slot_[label] < 0) {
      slot_[label] = static_cast<std::int32_t>(labels_.size());
      labels_.push_back(label);
    }
    return slot_[label];
  }

 private:
  std::vector<std::int32_t>& labels_;
  std::vector<std::int32_t> slot_;
};

// A node before it has its place; raw is its number among the collected ones.
struct RunItem {
  std::int32_t raw, bucket, height, shape;  // no shape, -1: it belongs to no run
};

inline void sort_items(std::vector<RunItem>& items) {
  std::stable_sort(items.begin(), items.end(), [](const RunItem& x, const RunItem& y) {
    if (x.bucket != y.bucket) return x.bucket < y.bucket;
    if (x.height != y.height) return x.height < y.height;
    return x.shape < y.shape;
  });
}

// By number among the collected ones: the node, or -1.
std::vector<std::int32_t> nodes_of(const std::vector<RunItem>& items, const Collected& raw);
// Lays out sorted items in buckets and runs.
void add_runs(const std::vector<RunItem>& items, std::int32_t n_buckets, RunSide& side);
// Makes room for the children of all runs, and returns the run of each node, or -1.
std::vector<std::int32_t> add_child_starts(const ForestView& forest, const Collected& raw,
                                           const std::vector<RunItem>& items, RunSide& side);
// Where nodes occur, and by entry of the trees its place among all occurrences.
Occurrences node_occurrences(const RunSide& side, bool per_tree, std::vector<std::int64_t>& place);

}  // namespace espalier
