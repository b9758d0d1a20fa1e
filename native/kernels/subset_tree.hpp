// Subset trees (and subtrees, over an identity pattern): Delta(u, v) = decay * prod_i (frontier + Delta(u_i, v_i)),
// the matrix F Delta F^T, and their reverse mode. See ARCHITECTURE.md for the layout.
#pragma once

#include <cstdint>
#include <vector>

#include "jobs/gate.hpp"
#include "jobs/team.hpp"
#include "kernels/buffer.hpp"
#include "kernels/occurrences.hpp"
#include "kernels/subset_tree_pattern.hpp"

namespace espalier {

// A list of ranges [begin, end) of some order, a few per level.
struct Tasks {
  std::vector<std::int64_t> bound;        // task k covers [bound[k], bound[k + 1])
  std::vector<std::int64_t> level_start;  // tasks of a level
};

class SubsetTreePlan {
 public:
  SubsetTreePlan(const ForestView& a, const ForestView* b, PatternOptions options, Listener listener = {});

  const Pattern& pattern() const { return pattern_; }
  std::int64_t n_rows() const { return pattern_.rows.n_trees; }
  std::int64_t n_columns() const { return pattern_.n_columns; }
  std::int32_t n_slots() const { return static_cast<std::int32_t>(pattern_.labels.size()) + 1; }
  // Bytes that `matrix` and `pull_back` take beside their arguments.
  std::int64_t matrix_bytes(std::int32_t max_depth) const;
  std::int64_t pull_back_bytes(std::int32_t max_depth) const;

  // decay and frontier have one value per slot; max_depth 0 means no limit. Fills out, n_rows x n_columns, and
  // returns whether every value is finite.
  bool matrix(const double* decay, const double* frontier, std::int32_t max_depth, Team& team, double* out);
  // Adds the gradients of sum(cotangent * matrix) to decay_bar and frontier_bar.
  void pull_back(const double* decay, const double* frontier, std::int32_t max_depth, const double* cotangent,
                 Team& team, double* decay_bar, double* frontier_bar);
  void release();
  // Held by whoever computes or releases: a plan's buffers serve one call at a time.
  Gate& gate() { return gate_; }

 private:
  struct Scratch {
    std::vector<double> row, weight, factor;
    std::vector<std::int32_t> count;
  };
  // One bucket's constants at the current hyperparameters.
  struct Rule {
    double decay, frontier, inverse, base;
    bool exact;  // the frontier is so small that products are formed without dividing by it
  };

  void set_rules(const double* decay, const double* frontier);
  void compute_delta(const double* decay, const double* frontier, std::int32_t depth, bool every_layer, Team& team,
                     double from, double to);
  std::int32_t effective_depth(std::int32_t max_depth) const;
  double* layer(std::int32_t depth, Team& team);
  // What a row holds: Delta, or its derivative by the frontier of the children that do not match.
  enum class Row { delta, frontier_slope };
  template <bool Symmetric>
  void fill_row(std::int64_t u, const double* below, double* out, Scratch& scratch, Row kind) const;
  void fill(std::int64_t u, const double* below, double* out, Scratch& scratch, Row kind = Row::delta) const;
  void gram_row(std::int64_t s, const double* delta, const double* below, double* out, Scratch& scratch) const;

  void prepare_pull_back();
  void plan_spread();
  void plan_rows();
  void plan_items();
  void spread(const double* cotangent, double factor, Team& team, double* bar) const;
  double finish_row(std::int64_t u, const double* delta, const double* below, double* bar, Scratch& scratch);
  template <bool Symmetric>
  void push_item(std::int64_t item, const double* below, const double* bar, double* bar_below);
  double child_delta(std::int64_t a, std::int64_t b_position, const double* below) const;

  Pattern pattern_;
  bool identity_;
  std::int32_t top_ = 0;                // the tallest row node
  std::vector<std::int32_t> by_level_;  // kept rows, by height
  Tasks delta_tasks_;
  std::vector<std::int64_t> tree_tasks_;
  std::vector<Rule> rules_;
  std::vector<Buffer> layers_;
  std::vector<double> current_;  // the hyperparameters that layers_ were computed with
  std::int32_t current_depth_ = -1;

  Gate gate_;
  bool prepared_ = false;
  RowOccurrences row_where_;
  std::vector<std::int64_t> spread_tasks_;
  std::vector<std::int32_t> by_first_tree_;
  std::vector<std::int32_t> rows_by_level_;  // every row, tallest first
  Tasks row_tasks_, item_tasks_;
  std::vector<std::int32_t> item_row_, item_child_;
  std::vector<double> row_sum_, row_frontier_, item_frontier_, item_share_;
  Buffer bar_, bar_below_, symmetric_;
};

// Delta of row node a with the column at b_position in a's bucket.
inline double SubsetTreePlan::child_delta(std::int64_t a, std::int64_t b_position, const double* below) const {
  const std::int64_t a_position = pattern_.position(a);
  if (!pattern_.symmetric || b_position <= a_position) return below[pattern_.kept_start[a] + b_position];
  return below[pattern_.kept_start[a - a_position + b_position] + a_position];
}

}  // namespace espalier
