// The reverse mode of partial_tree.cpp.
//
// Rows run from the tallest down. Several rows push to one child pair, so each task lists its pushes, and they are
// applied in the order of the tasks, to rows that are less tall than those that run: the result does not depend on
// the number of threads.
#include <algorithm>

#include "corpus/sort_by_key.hpp"
#include "kernels/occurrences.hpp"
#include "kernels/partial_tree.hpp"
#include "kernels/sums.hpp"
#include "kernels/symmetric.hpp"

namespace espalier {

namespace {

constexpr std::int64_t kTaskWork = 1 << 14;

}  // namespace

void PartialTreePlan::prepare_pull_back() {
  if (prepared_) return;  // each part starts afresh, for the case that memory ran out half-way
  const PartialSide &rows = pattern_.rows, &cols = pattern_.cols();
  const std::int64_t n = rows.n_nodes;
  row_where_ = row_occurrences(rows, pattern_.entry_end);
  std::vector<std::int32_t> key;
  std::vector<std::int32_t> stored;
  for (std::int64_t u = 0; u < n; ++u) {
    if (!pattern_.has_row(u)) continue;
    stored.push_back(static_cast<std::int32_t>(u));
    key.push_back(row_where_.tree[row_where_.start[u]]);
  }
  std::vector<std::int64_t> start;
  by_first_tree_.clear();
  for (std::int32_t k : sort_by_key(key, rows.n_trees, start)) by_first_tree_.push_back(stored[k]);
  spread_tasks_.assign(1, 0);
  std::int64_t work = 0;
  for (std::size_t k = 0; k < by_first_tree_.size(); ++k) {
    const std::int64_t u = by_first_tree_[k];
    const std::int64_t begin = pattern_.nodes.start[cols.bucket_start[rows.bucket[u]] + pattern_.row_first[u]];
    for (std::int64_t w = row_where_.start[u]; w < row_where_.start[u + 1]; ++w) work += row_where_.end[w] - begin;
    if (work >= kTaskWork || k + 1 == by_first_tree_.size()) {
      spread_tasks_.push_back(static_cast<std::int64_t>(k) + 1);
      work = 0;
    }
  }
  base_flow_.resize(rows.child.size());
  twin_flow_.resize(rows.child.size());
  terminal_flow_.resize(rows.child.size());
  row_decay_.resize(n);
  row_depth_.resize(n);
  row_terminal_.resize(n);
  symbol_part_.resize(rows.tree_symbol.size());
  twin_part_.resize(rows.tree_symbol.size());
  terminal_part_.resize(rows.tree_node.size());
  prepared_ = true;
}

void PartialTreePlan::spread_entries(std::int64_t s, const double* row, double factor) {
  const PartialSide& rows = pattern_.rows;
  const auto part = [&](const Occurrences& where, std::int64_t begin, std::int64_t end, double weight, bool half) {
    double lanes[4] = {0.0, 0.0, 0.0, 0.0};
    std::int64_t e = begin;
    for (; e + 4 <= end; e += 4) {
      for (int lane = 0; lane < 4; ++lane) lanes[lane] += where.count[e + lane] * row[where.tree[e + lane]];
    }
    for (; e < end; ++e) lanes[0] += where.count[e] * row[where.tree[e]];
    double total = (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
    if (half) total += 0.5 * where.count[end] * row[where.tree[end]];
    return factor * weight * total;
  };
  for (std::int64_t entry = rows.symbol_start[s]; entry < rows.symbol_start[s + 1]; ++entry) {
    const Occurrences& symbols = pattern_.symbols;
    const std::int32_t x = rows.tree_symbol[entry], y = pattern_.twin[x];
    const auto count = static_cast<double>(rows.symbol_count[entry]);
    symbol_part_[entry] = part(symbols, symbols.start[x], pattern_.symbol_end[entry], count, pattern_.symmetric);
    const bool counts = y >= 0 && (!pattern_.symmetric || x >= pattern_.n_buckets);
    twin_part_[entry] = counts ? part(symbols, symbols.start[y], symbols.start[y + 1], count, false) : 0.0;
  }
  for (std::int64_t entry = rows.tree_start[s]; entry < rows.tree_start[s + 1]; ++entry) {
    const std::int64_t u = rows.tree_node[entry];
    terminal_part_[entry] = 0.0;
    if (!rows.is_terminal(u) || pattern_.partner[u] < 0) continue;
    const std::int64_t v = pattern_.partner[u];
    const std::int64_t end = pattern_.symmetric ? pattern_.entry_end[entry] : pattern_.nodes.start[v + 1];
    const auto count = static_cast<double>(rows.tree_count[entry]);
    terminal_part_[entry] = part(pattern_.nodes, pattern_.nodes.start[v], end, count, pattern_.symmetric);
  }
}

void PartialTreePlan::spread_row(std::int64_t u, const double* cotangent, double factor) {
  const Occurrences& nodes = pattern_.nodes;
  const std::int64_t begin = nodes.start[pattern_.cols().bucket_start[pattern_.rows.bucket[u]] + pattern_.row_first[u]];
  const std::int64_t at = pattern_.row_offset[u];
  double* bar = bar_.data();
  std::fill(bar + (at + pattern_.row_first[u]), bar + (at + pattern_.row_end(u)), 0.0);
  for (std::int64_t w = row_where_.start[u]; w < row_where_.start[u + 1]; ++w) {
    const double* row = cotangent + row_where_.tree[w] * n_columns();
    const double weight = factor * row_where_.count[w];
    const std::int64_t end = row_where_.end[w];
    for (std::int64_t e = begin; e < end; ++e)
      bar[at + nodes.position[e]] += weight * nodes.count[e] * row[nodes.tree[e]];
    if (pattern_.symmetric) bar[at + nodes.position[end]] += 0.5 * weight * nodes.count[end] * row[nodes.tree[end]];
  }
}

void PartialTreePlan::spread(const double* cotangent, double factor, Team& team) {
  team.run(static_cast<std::int64_t>(tree_tasks_.size()) - 1, [&](std::int64_t task, int) {
    for (std::int64_t s = tree_tasks_[task]; s < tree_tasks_[task + 1]; ++s) {
      spread_entries(s, cotangent + s * n_columns(), factor);
    }
  });
  team.run(static_cast<std::int64_t>(spread_tasks_.size()) - 1, [&](std::int64_t task, int) {
    for (std::int64_t k = spread_tasks_[task]; k < spread_tasks_[task + 1]; ++k) {
      spread_row(by_first_tree_[k], cotangent, factor);
    }
  });
}

inline void PartialTreePlan::push_one(std::int64_t a, std::int64_t b, std::int64_t flow, double value,
                                      Scratch& scratch) {
  const std::int32_t p = pattern_.rows.bucket[a];
  const std::int64_t at = pattern_.rows.position(a), bt = pattern_.cols().position(b);
  if (at < pattern_.rows.n_terminal[p] && bt < pattern_.cols().n_terminal[p]) {
    if (pattern_.symmetric ? a == b : pattern_.partner[a] == b) terminal_flow_[flow] += value;
  } else if (!pattern_.symmetric || bt <= at) {
    scratch.pushes.push_back({pattern_.row_offset[a] + bt, value});
  } else {
    scratch.pushes.push_back({pattern_.row_offset[b] + at, value});
  }
}

// Passes the derivative by Delta of a row's child i with children j of some columns on to where that Delta is made.
void PartialTreePlan::push(const Cell& cell, std::int64_t run, std::int64_t k, std::int64_t column_run,
                           std::int64_t first, std::int64_t n, const double* match_bar, Scratch& scratch) {
  const PartialSide &rows = pattern_.rows, &cols = pattern_.cols();
  const std::int64_t flow = rows.child_index(run, cell.i, k);
  (cell.rule <= pattern_.n_buckets ? base_flow_ : twin_flow_)[flow] += sum(match_bar, n);
  if (cell.rule >= pattern_.n_buckets) return;
  const std::int32_t q = cell.rule, a = rows.child[flow];
  const std::int32_t* b = cols.child.data() + cols.child_index(column_run, cell.j, first);
  if (rows.n_terminal[q] == rows.members(q) && cols.n_terminal[q] == cols.members(q)) {
    const std::int64_t same = pattern_.symmetric ? a : pattern_.partner[a];
    double total = 0.0;
    for (std::int64_t l = 0; l < n; ++l) total += b[l] == same ? match_bar[l] : 0.0;
    terminal_flow_[flow] += total;
    return;
  }
  if (pattern_.symmetric && rows.n_terminal[q] == 0) {
    const std::int64_t origin = cols.bucket_start[q], at = a - origin;
    const std::int64_t own = pattern_.row_offset[a] - origin;
    const std::int64_t* offset = pattern_.row_offset.data();
    const std::size_t size = scratch.pushes.size();
    scratch.pushes.resize(size + n);
    Push* to = scratch.pushes.data() + size;
    for (std::int64_t l = 0; l < n; ++l) to[l] = {b[l] <= a ? own + b[l] : offset[b[l]] + at, match_bar[l]};
    return;
  }
  for (std::int64_t l = 0; l < n; ++l) push_one(a, b[l], flow, match_bar[l], scratch);
}

void PartialTreePlan::pull_pair_dense(std::int64_t run, std::int64_t k, std::int64_t column_run, std::int64_t l,
                                      double bar, Scratch& scratch, Team& team, int worker) {
  const Rule& rule = rules_[pattern_.rows.run_bucket[run]];
  const CellSet& set = scratch.cells;
  const std::int64_t m = pattern_.arity(pattern_.cols().run_shape[column_run]);
  const auto n = static_cast<std::int32_t>(pattern_.arity(pattern_.rows.run_shape[run]));
  const double gap = rule.decay, sum_bar = bar * rule.depth_decay;
  const auto find_matches = [&](std::int32_t i, double* match) {
    if (i % 64 == 0) team.breathe(worker);
    std::fill(match, match + m, 0.0);
    set.visit_row(i, [&](const Cell& cell) { gather(cell, run, k, column_run, l, 1, match + cell.j); });
  };
  const auto pull_cell = [&](double& above_bar, double g, double match) {
    above_bar -= gap * gap * g;
    if (match != 0.0) above_bar += (sum_bar + g) * match;
  };
  const auto push_row = [&](std::int32_t i, const double* above, const double* here_bar) {
    set.visit_row(i, [&](const Cell& cell) {
      const double match_bar = (sum_bar + here_bar[cell.j + 1]) * (1.0 + above[cell.j]);
      push(cell, run, k, column_run, l, 1, &match_bar, scratch);
    });
    scratch.keep_pushes_few();
  };
  row_decay_[pattern_.rows.run_start[run] + k] +=
      pull_dense(n, m, gap, scratch.rows, find_matches, pull_cell, push_row);
}

void PartialTreePlan::pull_block(const Task& task, std::int64_t column_run, Scratch& scratch, Team& team, int worker) {
  const PartialSide &rows = pattern_.rows, &cols = pattern_.cols();
  const std::int32_t p = rows.run_bucket[task.run];
  const Rule& rule = rules_[p];
  CellSet& set = scratch.cells;
  set.find(pattern_, rows.run_shape[task.run], cols.run_shape[column_run]);
  const std::int64_t n_cells = set.size();
  if (n_cells == 0) return;
  if (!set.many) {
    scratch.set_weights(set.gap, rule.decay);
    scratch.set_slopes(set.gap, rule.decay);
  }
  const bool own = pattern_.symmetric && column_run == task.run;
  const std::int64_t column0 = cols.run_start[column_run] - cols.bucket_start[p];
  for (auto* buffer : {&scratch.match, &scratch.value, &scratch.chain, &scratch.bar}) {
    buffer->resize(std::max<std::size_t>(buffer->size(), (set.many ? 1 : n_cells) * kBlock));
  }
  for (std::int64_t k = task.first; k < task.first + task.n; ++k) {
    const std::int64_t u = rows.run_start[task.run] + k;
    const std::int64_t n_columns = own ? k + 1 : cols.run_size[column_run];
    const double* bar = bar_.data() + pattern_.row_offset[u] + column0;
    if (set.many) {
      for (std::int64_t l = 0; l < n_columns; ++l) {
        if (bar[l] != 0.0) pull_pair_dense(task.run, k, column_run, l, bar[l], scratch, team, worker);
      }
      continue;
    }
    for (std::int64_t first = 0; first < n_columns; first += kBlock) {
      const std::int64_t n = std::min(kBlock, n_columns - first);
      scratch.keep_pushes_few();
      const auto find = [&](const Cell& cell, double* to) { gather(cell, task.run, k, column_run, first, n, to); };
      const auto push_cell = [&](std::int64_t c, const double* match_bar) {
        push(set.cells[c], task.run, k, column_run, first, n, match_bar, scratch);
      };
      double slope = 0.0;
      pull_chains(set, scratch, n, rule.depth_decay, bar + first, find, push_cell, slope);
      row_decay_[u] += slope;
    }
  }
}

void PartialTreePlan::pull_rows(const Task& task, Scratch& scratch, Team& team, int worker) {
  const PartialSide &rows = pattern_.rows, &cols = pattern_.cols();
  const std::int32_t p = rows.run_bucket[task.run];
  const std::int64_t n_terminal = cols.n_terminal[p];
  for (std::int64_t k = task.first; k < task.first + task.n; ++k) {
    const std::int64_t u = rows.run_start[task.run] + k;
    const double *delta = delta_.data() + pattern_.row_offset[u], *bar = bar_.data() + pattern_.row_offset[u];
    for (std::int64_t m = rows.match_start[task.run]; m < rows.match_start[task.run + 1]; ++m) {
      if (rows.match_bucket[m] < 0) row_terminal_[u] += bar[cols.position(rows.match[m])];
    }
    row_depth_[u] +=
        dot(bar + n_terminal, delta + n_terminal, pattern_.row_end(u) - n_terminal) / rules_[p].depth_decay;
  }
  const std::int64_t end = pattern_.symmetric ? task.run + 1 : cols.bucket_run_start[p + 1];
  for (std::int64_t column_run = cols.bucket_run_start[p]; column_run < end; ++column_run) {
    pull_block(task, column_run, scratch, team, worker);
  }
}

// The reverse of fill_terminal_rows.
void PartialTreePlan::pull_terminal_rows() {
  const PartialSide& cols = pattern_.cols();
  for (std::size_t run = 0; run < cols.run_start.size(); ++run) {
    for (std::int64_t m = cols.match_start[run]; m < cols.match_start[run + 1]; ++m) {
      if (cols.match_bucket[m] >= 0) continue;
      const double* bar = bar_.data() + (pattern_.row_offset[cols.match[m]] + cols.position(cols.run_start[run]));
      row_terminal_[cols.match[m]] += sum(bar, cols.run_size[run]);
    }
  }
}

void PartialTreePlan::pull_back(const double* decay, const double* depth_decay, const double* cotangent, Team& team,
                                double* decay_bar, double* depth_decay_bar) {
  prepare_pull_back();
  team.span(0.0, 0.3);
  compute_delta(decay, depth_decay, team);
  for (auto* sums : {&base_flow_, &twin_flow_, &terminal_flow_, &row_decay_, &row_depth_, &row_terminal_}) {
    std::fill(sums->begin(), sums->end(), 0.0);
  }
  bar_.reserve(std::max<std::int64_t>(pattern_.n_pairs, 1), team);
  double factor = 1.0;
  const double* matrix =
      pattern_.symmetric ? symmetrized(n_rows(), n_columns(), cotangent, team, symmetric_, factor) : cotangent;
  team.span(0.3, 0.6);
  spread(matrix, factor, team);
  team.span(0.6, 1.0);
  std::vector<Scratch> scratch(team.size());
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    run_pushing(std::ssize(*level), bar_.data(), scratch, team,
                [&](std::int64_t task, Scratch& mine, int worker) { pull_rows((*level)[task], mine, team, worker); });
  }
  if (!pattern_.symmetric) pull_terminal_rows();
  add_up(decay_bar, depth_decay_bar);
}

}  // namespace espalier
