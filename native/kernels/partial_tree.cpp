#include "kernels/partial_tree.hpp"

#include <algorithm>
#include <cmath>

#include "jobs/levels.hpp"
#include "kernels/symmetric.hpp"

namespace espalier {

namespace {

constexpr std::int64_t kTaskWork = 1 << 15;
constexpr std::int64_t kSmallPair = 1024;

}  // namespace

void CellSet::find(const PartialPattern& pattern, std::int32_t row_shape, std::int32_t column_shape) {
  n_buckets_ = pattern.n_buckets;
  row_ = pattern.shape_symbol.data() + pattern.shape_start[row_shape];
  column_ = pattern.shape_symbol.data() + pattern.shape_start[column_shape];
  row_label_ = pattern.shape_label.data() + pattern.shape_start[row_shape];
  const std::int32_t* column_label = pattern.shape_label.data() + pattern.shape_start[column_shape];
  const auto n = static_cast<std::int32_t>(pattern.arity(row_shape));
  const auto m = static_cast<std::int32_t>(pattern.arity(column_shape));
  clear();
  if (static_cast<std::int64_t>(n) * m <= kSmallPair) {
    for (std::int32_t i = 0; i < n; ++i) {
      if (row_label_[i] < 0) continue;
      for (std::int32_t j = 0; j < m; ++j) {
        if (row_label_[i] == column_label[j]) cells.push_back(cell(i, j));
      }
    }
    many = cells.size() > kMostCells;
  }
  if (many || static_cast<std::int64_t>(n) * m > kSmallPair) {
    by_label_.clear();
    for (std::int32_t j = 0; j < m; ++j) {
      if (column_label[j] >= 0) by_label_.emplace_back(column_label[j], j);
    }
    std::sort(by_label_.begin(), by_label_.end());
    list(n, [&](std::int32_t i, const auto& visit) { visit_row(i, visit); });
    if (many) return;
  }
  find_chains();
}

PartialTreePlan::PartialTreePlan(const ForestView& a, const ForestView* b, bool per_tree, Listener listener)
    : pattern_(make_partial_pattern(a, b, per_tree, listener)) {
  const PartialSide &rows = pattern_.rows, &cols = pattern_.cols();
  std::int32_t top = 0;
  for (std::int32_t height : rows.run_height) top = std::max(top, height);
  levels_.resize(top + 1);
  for (std::size_t run = 0; run < rows.run_start.size(); ++run) {
    const std::int64_t columns = cols.members(rows.run_bucket[run]);
    const std::int64_t step = std::max<std::int64_t>(1, kTaskWork / std::max<std::int64_t>(1, columns));
    for (std::int64_t k = 0; k < rows.run_size[run]; k += step) {
      levels_[rows.run_height[run]].push_back(
          {static_cast<std::int64_t>(run), k, std::min<std::int64_t>(step, rows.run_size[run] - k)});
    }
  }
  tree_tasks_.push_back(0);
  for (std::int64_t s = 0; s < rows.n_trees; ++s) {
    if (s + 1 == rows.n_trees || (s + 1) % 8 == 0) tree_tasks_.push_back(s + 1);
  }
}

std::int64_t PartialTreePlan::pull_back_bytes() const {
  // Two tables over the children of the widest pair, where cells are many.
  const std::int64_t wide = pattern_.widest > 5 ? (pattern_.widest + 1) * (pattern_.widest + 1) : 0;
  return 8 * (2 * pattern_.n_pairs + 2 * wide);
}

void PartialTreePlan::release() {
  delta_.release();
  bar_.release();
  symmetric_.release();
  current_.clear();
}

void PartialTreePlan::set_rules(const double* decay, const double* depth_decay) {
  const std::size_t leaf_slot = pattern_.labels.size();
  const double leaf_base = depth_decay[leaf_slot] * decay[leaf_slot] * decay[leaf_slot];
  rules_.resize(2 * pattern_.n_buckets + 1);
  for (std::int32_t p = 0; p < pattern_.n_buckets; ++p) {
    const double own = depth_decay[pattern_.slot[p]], leaf = depth_decay[leaf_slot];
    const double root = own == leaf ? own : std::sqrt(own) * std::sqrt(leaf);  // the product may be too small
    rules_[pattern_.n_buckets + 1 + p].base = root * decay[pattern_.slot[p]] * decay[leaf_slot];
  }
  for (std::int32_t p = 0; p <= pattern_.n_buckets; ++p) {
    const std::size_t slot = p < pattern_.n_buckets ? pattern_.slot[p] : leaf_slot;
    Rule& rule = rules_[p];
    rule.decay = decay[slot];
    rule.depth_decay = depth_decay[slot];
    rule.base = rule.depth_decay * rule.decay * rule.decay;
    rule.terminal = rule.depth_decay * leaf_base;
  }
}

// Delta of a row node with a column node of the same label.
inline double PartialTreePlan::match_of(std::int64_t a, std::int64_t b) const {
  const std::int32_t p = pattern_.rows.bucket[a];
  const std::int64_t at = pattern_.rows.position(a), bt = pattern_.cols().position(b);
  const std::int64_t n_a = pattern_.rows.n_terminal[p], n_b = pattern_.cols().n_terminal[p];
  double value = rules_[p].base;
  const double* delta = delta_.data();
  if (at < n_a && bt < n_b) {
    if (pattern_.symmetric ? a == b : pattern_.partner[a] == b) value += rules_[p].terminal;
  } else if (!pattern_.symmetric || bt <= at) {
    value += delta[pattern_.row_offset[a] + bt];
  } else {
    value += delta[pattern_.row_offset[b] + at];
  }
  return value;
}

// out[l] = Delta of child i of one row with child j of columns first .. first + n of a run.
void PartialTreePlan::gather(const Cell& cell, std::int64_t run, std::int64_t k, std::int64_t column_run,
                             std::int64_t first, std::int64_t n, double* out) const {
  const PartialSide &rows = pattern_.rows, &cols = pattern_.cols();
  if (cell.rule >= pattern_.n_buckets) {
    std::fill(out, out + n, rules_[cell.rule].base);
    return;
  }
  const std::int32_t a = rows.child[rows.child_index(run, cell.i, k)];
  const std::int32_t* b = cols.child.data() + cols.child_index(column_run, cell.j, first);
  const std::int32_t q = cell.rule;
  const Rule& rule = rules_[q];
  if (rows.n_terminal[q] == rows.members(q) && cols.n_terminal[q] == cols.members(q)) {
    const std::int64_t same = pattern_.symmetric ? a : pattern_.partner[a];
    const double equal = rule.base + rule.terminal;
    for (std::int64_t l = 0; l < n; ++l) out[l] = b[l] == same ? equal : rule.base;
    return;
  }
  const double* delta = delta_.data();
  const std::int64_t origin = cols.bucket_start[q];
  if (!rows.is_terminal(a) && (!pattern_.symmetric || rows.n_terminal[q] == 0)) {
    const std::int64_t own = pattern_.row_offset[a] - origin;
    if (!pattern_.symmetric) {
      for (std::int64_t l = 0; l < n; ++l) out[l] = rule.base + delta[own + b[l]];
      return;
    }
    const std::int64_t at = a - origin;
    const std::int64_t* offset = pattern_.row_offset.data();
    for (std::int64_t l = 0; l < n; ++l) {
      out[l] = rule.base + delta[b[l] <= a ? own + b[l] : offset[b[l]] + at];
    }
    return;
  }
  for (std::int64_t l = 0; l < n; ++l) out[l] = match_of(a, b[l]);
}

// Terminal columns: only a child of the row with the label of the column's leaf matches.
void PartialTreePlan::fill_terminal_columns(std::int64_t run, std::int64_t k) {
  const PartialSide &rows = pattern_.rows, &cols = pattern_.cols();
  const std::int32_t p = rows.run_bucket[run];
  if (cols.n_terminal[p] == 0) return;
  const std::int64_t u = rows.run_start[run] + k;
  double* out = delta_.data() + pattern_.row_offset[u];
  std::fill(out, out + cols.n_terminal[p], 0.0);
  for (std::int64_t m = rows.match_start[run]; m < rows.match_start[run + 1]; ++m) {
    out[cols.position(rows.match[m])] += terminal_match(p, rows.match_bucket[m]);
  }
}

// Terminal rows of a cross matrix with composite columns.
void PartialTreePlan::fill_terminal_rows() {
  const PartialSide &rows = pattern_.rows, &cols = pattern_.cols();
  for (std::int64_t u = 0; u < rows.n_nodes; ++u) {
    if (!rows.is_terminal(u) || !pattern_.has_row(u)) continue;
    double* out = delta_.data() + (pattern_.row_offset[u] + pattern_.row_first[u]);
    std::fill(out, out + (pattern_.row_end(u) - pattern_.row_first[u]), 0.0);
  }
  for (std::size_t run = 0; run < cols.run_start.size(); ++run) {
    for (std::int64_t m = cols.match_start[run]; m < cols.match_start[run + 1]; ++m) {
      double* out = delta_.data() + (pattern_.row_offset[cols.match[m]] + cols.position(cols.run_start[run]));
      const double value = terminal_match(cols.run_bucket[run], cols.match_bucket[m]);
      for (std::int32_t l = 0; l < cols.run_size[run]; ++l) out[l] += value;
    }
  }
}

// The sum over common subsequences of one pair with many matching cells.
double PartialTreePlan::fill_pair_dense(std::int64_t run, std::int64_t k, std::int64_t column_run, std::int64_t l,
                                        Scratch& scratch, Team& team, int worker) {
  const std::int64_t m = pattern_.arity(pattern_.cols().run_shape[column_run]);
  const auto n = static_cast<std::int32_t>(pattern_.arity(pattern_.rows.run_shape[run]));
  const double gap = rules_[pattern_.rows.run_bucket[run]].decay;
  return dense_sum(n, m, gap, scratch.rows, [&](std::int32_t i, double* match) {
    if (i % 64 == 0) team.breathe(worker);
    std::fill(match, match + m, 0.0);
    scratch.cells.visit_row(i, [&](const Cell& cell) { gather(cell, run, k, column_run, l, 1, match + cell.j); });
  });
}

void PartialTreePlan::fill_block(const Task& task, std::int64_t column_run, Scratch& scratch, Team& team, int worker) {
  const PartialSide &rows = pattern_.rows, &cols = pattern_.cols();
  const std::int32_t p = rows.run_bucket[task.run];
  const Rule& rule = rules_[p];
  CellSet& set = scratch.cells;
  set.find(pattern_, rows.run_shape[task.run], cols.run_shape[column_run]);
  const std::int64_t n_cells = set.size();
  if (!set.many) scratch.set_weights(set.gap, rule.decay);
  const bool own = pattern_.symmetric && column_run == task.run;
  const std::int64_t column0 = cols.run_start[column_run] - cols.bucket_start[p];
  scratch.value.resize(std::max<std::size_t>(scratch.value.size(), n_cells * kBlock));
  scratch.match.resize(kBlock);
  for (std::int64_t k = task.first; k < task.first + task.n; ++k) {
    const std::int64_t n_columns = own ? k + 1 : cols.run_size[column_run];
    double* row = delta_.data() + pattern_.row_offset[rows.run_start[task.run] + k] + column0;
    if (n_cells == 0) {
      std::fill(row, row + n_columns, 0.0);
      continue;
    }
    if (set.many) {
      for (std::int64_t l = 0; l < n_columns; ++l) {
        row[l] = rule.depth_decay * fill_pair_dense(task.run, k, column_run, l, scratch, team, worker);
      }
      continue;
    }
    for (std::int64_t first = 0; first < n_columns; first += kBlock) {
      const std::int64_t n = std::min(kBlock, n_columns - first);
      double* out = row + first;
      if (n_cells == 1) {
        gather(set.cells[0], task.run, k, column_run, first, n, out);
      } else {
        std::fill(out, out + n, 0.0);
        const auto find = [&](const Cell& cell, double* to) { gather(cell, task.run, k, column_run, first, n, to); };
        add_chains(set, scratch, n, find, out);
      }
      for (std::int64_t l = 0; l < n; ++l) out[l] *= rule.depth_decay;
    }
  }
}

void PartialTreePlan::fill_rows(const Task& task, Scratch& scratch, Team& team, int worker) {
  const std::int32_t p = pattern_.rows.run_bucket[task.run];
  for (std::int64_t k = task.first; k < task.first + task.n; ++k) fill_terminal_columns(task.run, k);
  const std::int64_t end = pattern_.symmetric ? task.run + 1 : pattern_.cols().bucket_run_start[p + 1];
  for (std::int64_t column_run = pattern_.cols().bucket_run_start[p]; column_run < end; ++column_run) {
    fill_block(task, column_run, scratch, team, worker);
  }
}

void PartialTreePlan::compute_delta(const double* decay, const double* depth_decay, Team& team) {
  const std::size_t n_slots = pattern_.labels.size() + 1;
  std::vector<double> wanted(decay, decay + n_slots);
  wanted.insert(wanted.end(), depth_decay, depth_decay + n_slots);
  if (wanted == current_) return;
  current_.clear();
  set_rules(decay, depth_decay);
  delta_.reserve(std::max<std::int64_t>(pattern_.n_pairs, 1), team);
  if (!pattern_.symmetric) fill_terminal_rows();
  std::vector<Scratch> scratch(team.size());
  run_levels(
      levels_, team, [](const std::vector<Task>& level) { return std::ssize(level); },
      [&](const std::vector<Task>& level, std::int64_t task, int worker) {
        fill_rows(level[task], scratch[worker], team, worker);
      });
  current_ = std::move(wanted);
}

void PartialTreePlan::gram_row(std::int64_t s, double* out) const {
  const PartialSide &rows = pattern_.rows, &cols = pattern_.cols();
  const double* delta = delta_.data();
  const Occurrences& symbols = pattern_.symbols;
  for (std::int64_t entry = rows.symbol_start[s]; entry < rows.symbol_start[s + 1]; ++entry) {
    const std::int32_t x = rows.tree_symbol[entry];
    const double weight = static_cast<double>(rows.symbol_count[entry]) * rules_[std::min(x, pattern_.n_buckets)].base;
    const std::int64_t end = pattern_.symbol_end[entry];
    for (std::int64_t e = symbols.start[x]; e < end; ++e) out[symbols.tree[e]] += weight * symbols.count[e];
    if (pattern_.symmetric) out[symbols.tree[end]] += 0.5 * weight * symbols.count[end];
    const std::int32_t y = pattern_.twin[x];
    // Where the transpose is added at the end, leaves of the rows do.
    if (y < 0 || (pattern_.symmetric && x < pattern_.n_buckets)) continue;
    const double twin = static_cast<double>(rows.symbol_count[entry]) * twin_base(std::min(x, y));
    for (std::int64_t e = symbols.start[y]; e < symbols.start[y + 1]; ++e)
      out[symbols.tree[e]] += twin * symbols.count[e];
  }
  const Occurrences& nodes = pattern_.nodes;
  for (std::int64_t entry = rows.tree_start[s]; entry < rows.tree_start[s + 1]; ++entry) {
    const std::int64_t u = rows.tree_node[entry];
    const std::int32_t p = rows.bucket[u];
    const double weight = rows.tree_count[entry];
    const std::int64_t end = pattern_.entry_end[entry];
    if (rows.is_terminal(u)) {
      const std::int64_t v = pattern_.partner[u];
      if (v >= 0) {
        const double value = weight * rules_[p].terminal;
        const std::int64_t stop = pattern_.symmetric ? end : nodes.start[v + 1];
        for (std::int64_t e = nodes.start[v]; e < stop; ++e) out[nodes.tree[e]] += value * nodes.count[e];
        if (pattern_.symmetric) out[nodes.tree[end]] += 0.5 * value * nodes.count[end];
      }
      if (!pattern_.has_row(u)) continue;
    }
    const std::int64_t at = pattern_.row_offset[u];
    const std::int64_t begin = nodes.start[cols.bucket_start[p] + pattern_.row_first[u]];
    for (std::int64_t e = begin; e < end; ++e)
      out[nodes.tree[e]] += weight * nodes.count[e] * delta[at + nodes.position[e]];
    if (pattern_.symmetric) out[nodes.tree[end]] += 0.5 * weight * nodes.count[end] * delta[at + nodes.position[end]];
  }
}

bool PartialTreePlan::matrix(const double* decay, const double* depth_decay, Team& team, double* out) {
  team.span(0.0, 0.7);
  compute_delta(decay, depth_decay, team);
  team.span(0.7, 1.0);
  const std::int64_t width = n_columns();
  clear(out, n_rows() * width, team);
  team.run(static_cast<std::int64_t>(tree_tasks_.size()) - 1, [&](std::int64_t task, int) {
    for (std::int64_t s = tree_tasks_[task]; s < tree_tasks_[task + 1]; ++s) {
      gram_row(s, out + s * width);
    }
  });
  return complete(n_rows(), width, pattern_.symmetric, team, out);
}

}  // namespace espalier
