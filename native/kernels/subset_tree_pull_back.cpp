// The reverse mode of subset_tree.cpp.
//
// bar(u, v) is the derivative of the objective by Delta(u, v). It starts as F^T A F on the pattern and flows
// from parents to children. Rows of one height run in parallel; several parents share a child pair, so
// the pushes of one height are grouped by the child's bucket, and one task owns a bucket. Sums are kept per row
// and added up in order at the end: the result does not depend on the number of threads.
#include <algorithm>
#include <limits>

#include "corpus/sort_by_key.hpp"
#include "kernels/occurrences.hpp"
#include "kernels/subset_tree.hpp"
#include "kernels/sums.hpp"
#include "kernels/symmetric.hpp"

namespace espalier {

namespace {

constexpr std::int64_t kTaskWork = 1 << 13;
constexpr double kTiny = std::numeric_limits<double>::min();
// Where a frontier of 0 makes a factor 0, Delta is 0 too and dividing loses the product of the other factors. At this
// frontier no factor is 0, and derivatives are what they are at 0.
constexpr double kAboveZero = 1e-100;

}  // namespace

void SubsetTreePlan::prepare_pull_back() {
  if (prepared_) return;  // each part starts afresh, for the case that memory ran out half-way
  plan_spread();
  plan_rows();
  plan_items();
  row_sum_.resize(pattern_.rows.n_nodes);
  row_frontier_.resize(pattern_.rows.n_nodes);
  item_frontier_.resize(item_row_.size());
  item_share_.resize(item_row_.size());
  prepared_ = true;
}

// Rows in the order of the first tree that holds them.
void SubsetTreePlan::plan_spread() {
  const PatternSide& rows = pattern_.rows;
  const std::int64_t n = rows.n_nodes;
  row_where_ = row_occurrences(rows, pattern_.entry_end);
  std::vector<std::int32_t> key(n);
  for (std::int64_t u = 0; u < n; ++u) key[u] = row_where_.tree[row_where_.start[u]];
  std::vector<std::int64_t> start;
  by_first_tree_ = sort_by_key(key, rows.n_trees, start);
  spread_tasks_.assign(1, 0);
  std::int64_t work = 0;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t u = by_first_tree_[k];
    const std::int64_t begin = pattern_.where_start[pattern_.cols().bucket_start[rows.bucket[u]]];
    for (std::int64_t w = row_where_.start[u]; w < row_where_.start[u + 1]; ++w) work += row_where_.end[w] - begin + 4;
    if (work >= kTaskWork || k + 1 == n) {
      spread_tasks_.push_back(k + 1);
      work = 0;
    }
  }
}

// Rows by height.
void SubsetTreePlan::plan_rows() {
  std::vector<std::int64_t> start;
  rows_by_level_ = sort_by_key(pattern_.rows.height, top_ + 1, start);
  row_tasks_ = {.bound = {0}, .level_start = {}};
  for (std::int32_t level = 0; level <= top_; ++level) {
    row_tasks_.level_start.push_back(static_cast<std::int64_t>(row_tasks_.bound.size()) - 1);
    std::int64_t work = 0;
    for (std::int64_t k = start[level]; k < start[level + 1]; ++k) {
      work += 2 * pattern_.row_length(rows_by_level_[k]) + 16;
      if (work >= kTaskWork || k + 1 == start[level + 1]) {
        row_tasks_.bound.push_back(k + 1);
        work = 0;
      }
    }
  }
  row_tasks_.level_start.push_back(static_cast<std::int64_t>(row_tasks_.bound.size()) - 1);
}

// (row, child) items by height and then by the child's bucket, which one task owns.
void SubsetTreePlan::plan_items() {
  const PatternSide& rows = pattern_.rows;
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> item_row, item_child, item_bucket;
  for (std::int64_t u = 0; u < rows.n_nodes; ++u) {
    for (std::int64_t here = pattern_.row_child_start[u]; here < pattern_.row_child_start[u + 1]; ++here) {
      if (pattern_.row_list[here] < 0) continue;
      item_row.push_back(static_cast<std::int32_t>(u));
      item_child.push_back(static_cast<std::int32_t>(here - pattern_.row_child_start[u]));
      item_bucket.push_back(pattern_.lists.bucket[pattern_.row_list[here]]);
    }
  }
  const std::vector<std::int32_t> by_bucket = sort_by_key(item_bucket, pattern_.n_buckets, start);
  std::vector<std::int32_t> height(by_bucket.size());
  for (std::size_t k = 0; k < by_bucket.size(); ++k) height[k] = rows.height[item_row[by_bucket[k]]];
  const std::vector<std::int32_t> by_level = sort_by_key(height, top_ + 1, start);
  item_row_.resize(by_bucket.size());
  item_child_.resize(by_bucket.size());
  item_tasks_ = {.bound = {0}, .level_start = {}};
  for (std::int32_t level = 0; level <= top_; ++level) {
    item_tasks_.level_start.push_back(static_cast<std::int64_t>(item_tasks_.bound.size()) - 1);
    std::int64_t work = 0;
    std::int32_t bucket = -1;
    for (std::int64_t k = start[level]; k < start[level + 1]; ++k) {
      const std::int32_t item = by_bucket[by_level[k]];
      item_row_[k] = item_row[item];
      item_child_[k] = item_child[item];
      const bool apart = item_bucket[item] != bucket || pattern_.cols().members(bucket) == 1;
      if (apart && work >= kTaskWork) {
        item_tasks_.bound.push_back(k);
        work = 0;
      }
      bucket = item_bucket[item];
      const std::int64_t here = pattern_.row_child_start[item_row[item]] + item_child[item];
      work += pattern_.row_list_end[here] - pattern_.lists.start[pattern_.row_list[here]] + 16;
    }
    if (work > 0) item_tasks_.bound.push_back(start[level + 1]);
  }
  item_tasks_.level_start.push_back(static_cast<std::int64_t>(item_tasks_.bound.size()) - 1);
}

// bar = F^T cotangent F on the pattern, row by row in the order of the trees, so that a row of the cotangent stays in cache.
void SubsetTreePlan::spread(const double* cotangent, double factor, Team& team, double* bar) const {
  const Pattern& pattern = pattern_;
  const PatternSide &rows = pattern.rows, &cols = pattern.cols();
  const std::int32_t *tree = pattern.where_tree.data(), *position = pattern.where_position.data();
  const double* count = pattern.where_count.data();
  const std::int64_t width = n_columns();
  team.run(static_cast<std::int64_t>(spread_tasks_.size()) - 1, [&](std::int64_t task, int) {
    for (std::int64_t k = spread_tasks_[task]; k < spread_tasks_[task + 1]; ++k) {
      const std::int64_t u = by_first_tree_[k];
      const std::int32_t p = rows.bucket[u];
      const std::int64_t begin = pattern.where_start[cols.bucket_start[p]];
      double* out = bar + pattern.row_start[u];
      const bool single = cols.members(p) == 1;
      std::fill(out, out + pattern.row_length(u), 0.0);
      for (std::int64_t w = row_where_.start[u]; w < row_where_.start[u + 1]; ++w) {
        const double* row = cotangent + row_where_.tree[w] * width;
        const double weight = factor * row_where_.count[w];
        const std::int64_t end = row_where_.end[w];
        if (single) {
          double sum[4] = {0.0, 0.0, 0.0, 0.0};
          std::int64_t e = begin;
          for (; e + 4 <= end; e += 4) {
            for (int lane = 0; lane < 4; ++lane) sum[lane] += count[e + lane] * row[tree[e + lane]];
          }
          for (; e < end; ++e) sum[0] += count[e] * row[tree[e]];
          out[0] += weight * ((sum[0] + sum[1]) + (sum[2] + sum[3]));
        } else if (pattern.unit[p]) {
          for (std::int64_t e = begin; e < end; ++e) out[position[e]] += weight * row[tree[e]];
        } else {
          for (std::int64_t e = begin; e < end; ++e) out[position[e]] += weight * count[e] * row[tree[e]];
        }
        if (pattern.symmetric) out[position[end]] += 0.5 * weight * row_where_.count[w] * row[tree[end]];
      }
    }
  });
}

// Turns bar into bar * Delta and takes this row's share of the gradients.
double SubsetTreePlan::finish_row(std::int64_t u, const double* delta, const double* below, double* bar,
                                  Scratch& scratch) {
  const std::int32_t p = pattern_.rows.bucket[u], arity = pattern_.arity[p];
  const Rule& rule = rules_[p];
  const std::int64_t length = pattern_.row_length(u);
  const double* row;
  if (pattern_.kept_start[u] >= 0) {
    row = delta + pattern_.kept_start[u];
  } else {
    scratch.row.resize(std::max<std::size_t>(scratch.row.size(), length));
    fill(u, below, scratch.row.data(), scratch);
    row = scratch.row.data();
  }
  if (rule.exact && arity > 0) {
    scratch.weight.resize(std::max<std::size_t>(scratch.weight.size(), length));
    fill(u, below, scratch.weight.data(), scratch, Row::frontier_slope);
    row_frontier_[u] += dot(bar, scratch.weight.data(), length);
  }
  const double sum = multiply_and_sum(bar, row, length);
  if (rule.exact || arity == 0) return sum;
  // frontier_bar gets bar * Delta / frontier for each child that does not match: count them, so that
  // large matching entries never enter and cancel.
  bool matched = false;
  for (std::int32_t i = 0; below && i < arity; ++i) {
    const std::int64_t here = pattern_.row_child_start[u] + i;
    if (pattern_.row_list[here] < 0) continue;
    if (!matched) scratch.weight.assign(length, arity);
    matched = true;
    const std::int32_t* position = pattern_.lists.position.data();
    for (std::int64_t e = pattern_.lists.start[pattern_.row_list[here]]; e < pattern_.row_list_end[here]; ++e) {
      scratch.weight[position[e]] -= 1.0;
    }
  }
  row_frontier_[u] += rule.inverse * (matched ? dot(bar, scratch.weight.data(), length) : arity * sum);
  return sum;
}

template <bool Symmetric>
void SubsetTreePlan::push_item(std::int64_t item, const double* below, const double* bar, double* bar_below) {
  const Pattern& pattern = pattern_;
  const std::int64_t u = item_row_[item], i = item_child_[item];
  const std::int64_t here = pattern.row_child_start[u] + i;
  const std::int32_t list = pattern.row_list[here], q = pattern.lists.bucket[list], p = pattern.rows.bucket[u];
  const std::int64_t begin = pattern.lists.start[list], end = pattern.row_list_end[here];
  const std::int64_t a = pattern.rows.child_of(u, i);
  const std::int32_t* position = pattern.lists.position.data();
  const std::int32_t* child_position = pattern.lists.child_position.data();
  const double* from = bar + pattern.row_start[u];
  // The child's factor, which Delta is divided by. It is 0 only where identical subtrees underflowed, and Delta with it.
  const double frontier = rules_[p].frontier;
  const auto factor = [frontier](double child) { return std::max(frontier + child, kTiny); };
  const std::int64_t first = pattern.rows.bucket_start[q], at = a - first;
  double total = 0.0;
  if (pattern.cols().members(q) == 1) {
    double sum[4] = {0.0, 0.0, 0.0, 0.0};
    std::int64_t e = begin;
    for (; e + 4 <= end; e += 4) {
      for (int lane = 0; lane < 4; ++lane) sum[lane] += from[position[e + lane]];
    }
    for (; e < end; ++e) sum[0] += from[position[e]];
    // Many parents have such a child, so its tasks may be split: the caller adds the shares in order.
    total = ((sum[0] + sum[1]) + (sum[2] + sum[3])) / factor(below[pattern.kept_start[a]]);
    item_share_[item] = total;
  } else if (!Symmetric || pattern.row_ahead[here]) {
    const double* row = below + pattern.kept_start[a];
    double* to = bar_below + pattern.row_start[a];
    for (std::int64_t e = begin; e < end; ++e) {
      const double share = from[position[e]] / factor(row[child_position[e]]);
      to[child_position[e]] += share;
      total += share;
    }
  } else {
    const double* triangle = below + pattern.kept_start[first];
    double* to = bar_below + pattern.row_start[first];
    const std::int64_t own = at * (at + 1) / 2;
    for (std::int64_t e = begin; e < end; ++e) {
      const std::int64_t b = child_position[e];
      const std::int64_t index = b <= at ? own + b : b * (b + 1) / 2 + at;
      const double share = from[position[e]] / factor(triangle[index]);
      to[index] += share;
      total += share;
    }
  }
  item_frontier_[item] += total;
}

void SubsetTreePlan::pull_back(const double* decay, const double* frontier, std::int32_t max_depth,
                               const double* cotangent, Team& team, double* decay_bar, double* frontier_bar) {
  const std::int32_t depth = effective_depth(max_depth);
  prepare_pull_back();
  std::vector<double> above_zero(frontier, frontier + n_slots());
  for (double& value : above_zero) value = identity_ ? value : std::max(value, kAboveZero);
  compute_delta(decay, above_zero.data(), depth, true, team, 0.0, 0.3);
  std::fill(row_sum_.begin(), row_sum_.end(), 0.0);
  std::fill(row_frontier_.begin(), row_frontier_.end(), 0.0);
  std::fill(item_frontier_.begin(), item_frontier_.end(), 0.0);
  const std::int64_t n_pairs = std::max<std::int64_t>(pattern_.n_pairs, 1);
  double* bar = bar_.reserve(n_pairs, team);
  team.span(0.3, 0.6);
  double factor = 1.0;
  const double* matrix =
      pattern_.symmetric ? symmetrized(n_rows(), n_columns(), cotangent, team, symmetric_, factor) : cotangent;
  spread(matrix, factor, team, bar);
  std::vector<Scratch> scratch(team.size());
  for (std::int32_t d = depth; d >= (depth ? 1 : 0); --d) {
    const double* delta = layer(d, team);
    const double* below = depth == 0 ? delta : (d == 1 ? nullptr : layer(d - 1, team));
    double* bar_below = bar;
    if (depth > 0 && d > 1) {
      bar_below = (d % 2 == depth % 2 ? bar_below_ : bar_).reserve(n_pairs, team);
      std::fill(bar_below, bar_below + pattern_.n_pairs, 0.0);
    }
    for (std::int32_t level = top_; level >= 0; --level) {
      const double part = 0.4 / std::max(depth, 1);
      team.span(0.6 + part * (depth - d), 0.6 + part * (depth - d + 1));
      const std::int64_t row0 = row_tasks_.level_start[level];
      team.run(row_tasks_.level_start[level + 1] - row0, [&](std::int64_t task, int worker) {
        for (std::int64_t k = row_tasks_.bound[row0 + task]; k < row_tasks_.bound[row0 + task + 1]; ++k) {
          const std::int64_t u = rows_by_level_[k];
          row_sum_[u] += finish_row(u, delta, below, bar + pattern_.row_start[u], scratch[worker]);
        }
      });
      if (!below) continue;
      const std::int64_t item0 = item_tasks_.level_start[level];
      team.run(item_tasks_.level_start[level + 1] - item0, [&](std::int64_t task, int) {
        for (std::int64_t k = item_tasks_.bound[item0 + task]; k < item_tasks_.bound[item0 + task + 1]; ++k) {
          if (pattern_.symmetric) {
            push_item<true>(k, below, bar, bar_below);
          } else {
            push_item<false>(k, below, bar, bar_below);
          }
        }
      });
      for (std::int64_t k = item_tasks_.bound[item0]; k < item_tasks_.bound[item_tasks_.level_start[level + 1]]; ++k) {
        const std::int32_t a = pattern_.rows.child_of(item_row_[k], item_child_[k]);
        if (pattern_.cols().members(pattern_.rows.bucket[a]) == 1) bar_below[pattern_.row_start[a]] += item_share_[k];
      }
    }
    bar = bar_below;
  }
  for (std::int64_t u = 0; u < pattern_.rows.n_nodes; ++u) {
    const std::int32_t p = pattern_.rows.bucket[u];
    decay_bar[pattern_.slot[p]] += row_sum_[u] / rules_[p].decay;
    frontier_bar[pattern_.slot[p]] += row_frontier_[u];
  }
  for (std::size_t item = 0; item < item_row_.size(); ++item) {
    frontier_bar[pattern_.slot[pattern_.rows.bucket[item_row_[item]]]] += item_frontier_[item];
  }
}

}  // namespace espalier
