// Partial trees: Delta(u, v) = depth_decay * (decay^2 + sum over common subsequences of children), the matrix
// F Delta F^T, and their reverse mode.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "jobs/gate.hpp"
#include "jobs/team.hpp"
#include "kernels/buffer.hpp"
#include "kernels/common_subsequences.hpp"
#include "kernels/occurrences.hpp"
#include "kernels/partial_tree_pattern.hpp"

namespace espalier {

// Children i of a row's shape and j of a column's that have one label, and the rule by which they match: of two inner
// nodes their bucket, behind all buckets that of two leaves, and behind it, by bucket, that of a leaf and an inner node.
struct Cell {
  std::int32_t i, j, rule;
};

struct CellSet : Cells<Cell> {
  void find(const PartialPattern& pattern, std::int32_t row_shape, std::int32_t column_shape);
  // Calls visit(cell) for the cells of row i, left to right. Where cells are many.
  template <class Visit>
  void visit_row(std::int32_t i, const Visit& visit) const {
    if (row_label_[i] < 0) return;
    auto at =
        std::lower_bound(by_label_.begin(), by_label_.end(), std::pair<std::int32_t, std::int32_t>{row_label_[i], 0});
    for (; at != by_label_.end() && at->first == row_label_[i]; ++at) visit(cell(i, at->second));
  }

 private:
  Cell cell(std::int32_t i, std::int32_t j) const {
    const std::int32_t x = row_[i], y = column_[j];
    return {i, j, x == y ? std::min(x, n_buckets_) : n_buckets_ + 1 + std::min(x, y)};
  }

  std::int32_t n_buckets_ = 0;
  const std::int32_t *row_ = nullptr, *column_ = nullptr, *row_label_ = nullptr;
  std::vector<std::pair<std::int32_t, std::int32_t>> by_label_;  // the column's labels and where they stand
};

class PartialTreePlan {
 public:
  PartialTreePlan(const ForestView& a, const ForestView* b, bool per_tree, Listener listener = {});

  const PartialPattern& pattern() const { return pattern_; }
  std::int64_t n_rows() const { return pattern_.rows.n_trees; }
  std::int64_t n_columns() const { return pattern_.n_columns; }
  std::int64_t matrix_bytes() const { return 8 * pattern_.n_pairs; }
  std::int64_t pull_back_bytes() const;

  // Fills out, n_rows x n_columns, and returns whether every value is finite.
  bool matrix(const double* decay, const double* depth_decay, Team& team, double* out);
  void pull_back(const double* decay, const double* depth_decay, const double* cotangent, Team& team, double* decay_bar,
                 double* depth_decay_bar);
  void release();
  // Held by whoever computes or releases: a plan's buffers serve one call at a time.
  Gate& gate() { return gate_; }

 private:
  // Rows [first, first + n) of one run.
  struct Task {
    std::int64_t run, first, n;
  };
  // A label's constants at the current hyperparameters.
  struct Rule {
    double decay, depth_decay, base, terminal;
  };
  struct Scratch : ChainScratch {
    CellSet cells;
  };

  void set_rules(const double* decay, const double* depth_decay);
  // Delta of a leaf and an inner node with one label.
  double twin_base(std::int32_t bucket) const { return rules_[pattern_.n_buckets + 1 + bucket].base; }
  // What a terminal node gains from a child with its leaf's label: a leaf, or an inner node of a bucket.
  double terminal_match(std::int32_t p, std::int32_t bucket) const {
    return bucket < 0 ? rules_[p].terminal : rules_[p].depth_decay * twin_base(bucket);
  }
  void compute_delta(const double* decay, const double* depth_decay, Team& team);
  void fill_terminal_columns(std::int64_t run, std::int64_t k);
  void fill_terminal_rows();
  void fill_rows(const Task& task, Scratch& scratch, Team& team, int worker);
  void fill_block(const Task& task, std::int64_t column_run, Scratch& scratch, Team& team, int worker);
  double fill_pair_dense(std::int64_t run, std::int64_t k, std::int64_t column_run, std::int64_t l, Scratch& scratch,
                         Team& team, int worker);
  void gather(const Cell& cell, std::int64_t run, std::int64_t k, std::int64_t column_run, std::int64_t first,
              std::int64_t n, double* out) const;
  double match_of(std::int64_t a, std::int64_t b) const;
  void gram_row(std::int64_t s, double* out) const;

  void prepare_pull_back();
  void spread(const double* cotangent, double factor, Team& team);
  void spread_row(std::int64_t u, const double* cotangent, double factor);
  void spread_entries(std::int64_t s, const double* row, double factor);
  void pull_rows(const Task& task, Scratch& scratch, Team& team, int worker);
  void pull_block(const Task& task, std::int64_t column_run, Scratch& scratch, Team& team, int worker);
  void pull_pair_dense(std::int64_t run, std::int64_t k, std::int64_t column_run, std::int64_t l, double bar,
                       Scratch& scratch, Team& team, int worker);
  void push(const Cell& cell, std::int64_t run, std::int64_t k, std::int64_t column_run, std::int64_t first,
            std::int64_t n, const double* match_bar, Scratch& scratch);
  void push_one(std::int64_t a, std::int64_t b, std::int64_t flow, double value, Scratch& scratch);
  void pull_terminal_rows();
  // Calls visit(bucket of the run, bucket of the child, sum of derivatives) for each match of a terminal node's leaf with
  // an inner child of a run.
  template <class Visit>
  void each_twin_match(const Visit& visit) const;
  void add_up(double* decay_bar, double* depth_decay_bar) const;
  void add_up_twins(double* decay_bar, double* depth_decay_bar) const;

  PartialPattern pattern_;
  std::vector<std::vector<Task>> levels_;  // tasks over rows, by height
  std::vector<std::int64_t> tree_tasks_;
  std::vector<Rule> rules_;  // see Cell; that of a leaf and an inner node has a base only
  Buffer delta_, bar_, symmetric_;
  std::vector<double> current_;

  // Sums kept per row, per child of a row or per entry of a tree, so that they can be added up in one order.
  std::vector<double> base_flow_, twin_flow_, terminal_flow_;    // by child of a composite row, laid out as rows.child
  std::vector<double> row_decay_, row_depth_, row_terminal_;     // by row node
  std::vector<double> symbol_part_, twin_part_, terminal_part_;  // by entry
  RowOccurrences row_where_;
  std::vector<std::int64_t> spread_tasks_;
  std::vector<std::int32_t> by_first_tree_;
  Gate gate_;
  bool prepared_ = false;
};

}  // namespace espalier
