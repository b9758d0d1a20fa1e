// Sums over the common subsequences of two sequences of children, and their reverse mode.
//
// What partial and smoothed partial trees share. A cell is a pair of children, i of the row's node and j of the column's,
// that match. A common subsequence is a chain of cells that ascend on both sides; it weighs the product of its matches,
// and the decay of gaps for each child that is skipped. Many columns with the same cells are computed side by side.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "jobs/pushes.hpp"
#include "kernels/sums.hpp"

namespace espalier {

constexpr std::int64_t kBlock = 128;  // columns that are computed side by side
constexpr std::size_t kMostCells = 32;

// The matching cells of two shapes, in the order in which sums over subsequences need them.
template <class Cell>
struct Cells {
  bool many = false;  // too many to list: they are visited row by row
  std::vector<Cell> cells;
  // For cell c, the cells before it in both sequences, and how many children are skipped in between.
  std::vector<std::int32_t> before_start, before, gap;

  std::int64_t size() const { return static_cast<std::int64_t>(cells.size()); }

 protected:
  void clear() {
    many = false;
    cells.clear();
    before_start.assign(1, 0);
    before.clear();
    gap.clear();
  }
  // Lists the cells of n rows, as far as there are not too many; visit_row(i, visit) calls visit(cell) for those of a row.
  template <class VisitRow>
  void list(std::int32_t n, const VisitRow& visit_row) {
    cells.clear();
    for (std::int32_t i = 0; i < n && cells.size() <= kMostCells; ++i) {
      visit_row(i, [&](const Cell& cell) {
        if (cells.size() <= kMostCells) cells.push_back(cell);
      });
    }
    many = cells.size() > kMostCells;
  }
  void find_chains() {
    for (std::size_t c = 0; c < cells.size(); ++c) {
      for (std::size_t d = 0; d < c; ++d) {
        if (cells[d].i < cells[c].i && cells[d].j < cells[c].j) {
          before.push_back(static_cast<std::int32_t>(d));
          gap.push_back(cells[c].i - cells[d].i - 1 + cells[c].j - cells[d].j - 1);
        }
      }
      before_start.push_back(static_cast<std::int32_t>(before.size()));
    }
  }
};

// What one thread needs.
struct ChainScratch {
  std::vector<double> match, value, chain, bar, power, weight, slope, rows;
  std::vector<Push> pushes;               // of the task that runs, not yet added to the derivatives of pairs
  std::function<void()> keep_pushes_few;  // called now and then while they are listed

  // Sets the weights of gaps, by pair of cells.
  void set_weights(const std::vector<std::int32_t>& gaps, double decay) {
    power.assign(1, 1.0);
    weight.resize(gaps.size());
    for (std::size_t k = 0; k < gaps.size(); ++k) {
      while (static_cast<std::size_t>(gaps[k]) >= power.size()) power.push_back(power.back() * decay);
      weight[k] = power[gaps[k]];
    }
  }
  void set_slopes(const std::vector<std::int32_t>& gaps, double decay) {
    slope.resize(gaps.size());
    for (std::size_t k = 0; k < gaps.size(); ++k) slope[k] = gaps[k] * weight[k] / decay;
  }
};

// For n columns and cell c: one, and what the chains that end before it weigh.
template <class Cell>
void find_chain(const Cells<Cell>& set, std::int64_t c, const ChainScratch& scratch, std::int64_t n, double* chain) {
  std::fill(chain, chain + n, 1.0);
  for (std::int32_t d = set.before_start[c]; d < set.before_start[c + 1]; ++d) {
    const double weight = scratch.weight[d];
    const double* earlier = scratch.value.data() + set.before[d] * kBlock;
    for (std::int64_t l = 0; l < n; ++l) chain[l] += weight * earlier[l];
  }
}

// Adds the sums of n columns to out; gather(cell, to) writes the matches of a cell.
template <class Cell, class Gather>
void add_chains(const Cells<Cell>& set, ChainScratch& scratch, std::int64_t n, const Gather& gather, double* out) {
  for (std::int64_t c = 0; c < set.size(); ++c) {
    double* value = scratch.value.data() + c * kBlock;
    gather(set.cells[c], value);
    if (set.before_start[c] < set.before_start[c + 1]) {
      double* chain = scratch.match.data();
      find_chain(set, c, scratch, n, chain);
      for (std::int64_t l = 0; l < n; ++l) value[l] *= chain[l];
    }
    for (std::int64_t l = 0; l < n; ++l) out[l] += value[l];
  }
}

// The reverse of it. The derivatives by the sums are factor * bar; push(c, match_bar) takes those by the matches of cell
// c, and slope that by the decay of gaps.
template <class Cell, class Gather, class PushCell>
void pull_chains(const Cells<Cell>& set, ChainScratch& scratch, std::int64_t n, double factor, const double* bar,
                 const Gather& gather, const PushCell& push, double& slope) {
  if (set.before.empty()) {
    double* match_bar = scratch.bar.data();
    for (std::int64_t l = 0; l < n; ++l) match_bar[l] = factor * bar[l];
    for (std::int64_t c = 0; c < set.size(); ++c) push(c, match_bar);
    return;
  }
  for (std::int64_t c = 0; c < set.size(); ++c) {
    double *match = scratch.match.data() + c * kBlock, *value = scratch.value.data() + c * kBlock;
    double *chain = scratch.chain.data() + c * kBlock, *value_bar = scratch.bar.data() + c * kBlock;
    gather(set.cells[c], match);
    find_chain(set, c, scratch, n, chain);
    for (std::int64_t l = 0; l < n; ++l) value[l] = match[l] * chain[l];
    for (std::int64_t l = 0; l < n; ++l) value_bar[l] = factor * bar[l];
  }
  for (std::int64_t c = set.size() - 1; c >= 0; --c) {
    double *match = scratch.match.data() + c * kBlock, *chain = scratch.chain.data() + c * kBlock;
    const double* value_bar = scratch.bar.data() + c * kBlock;
    for (std::int64_t l = 0; l < n; ++l) {
      chain[l] *= value_bar[l];  // the derivative by the match
      match[l] *= value_bar[l];  // the derivative by the chain
    }
    for (std::int32_t d = set.before_start[c]; d < set.before_start[c + 1]; ++d) {
      const double weight = scratch.weight[d];
      double* earlier_bar = scratch.bar.data() + set.before[d] * kBlock;
      for (std::int64_t l = 0; l < n; ++l) earlier_bar[l] += weight * match[l];
      if (set.gap[d] > 0) slope += scratch.slope[d] * dot(match, scratch.value.data() + set.before[d] * kBlock, n);
    }
    push(c, chain);
  }
}

// Where cells are many: Q(i, j), what all subsequences among the first i and j children weigh, row by row. `match` holds
// the matches of row i; returns the sum over those that end in it.
inline double next_row(const double* match, const double* above, double gap, std::int64_t m, double* here,
                       double total = 0.0) {
  for (std::int64_t j = 0; j < m; ++j) {
    const double ending = match[j] * (1.0 + above[j]);
    total += ending;
    here[j + 1] = ending + gap * (above[j + 1] + here[j]) - gap * gap * above[j];
  }
  return total;
}

// The sum for one pair of n and m children; find_matches(i, match) writes those of a row.
template <class FindMatches>
double dense_sum(std::int32_t n, std::int64_t m, double gap, std::vector<double>& rows,
                 const FindMatches& find_matches) {
  // Q of the row above and of this one with a border of zeros, and the matches of one row.
  rows.assign(3 * (m + 1), 0.0);
  double *above = rows.data(), *here = above + m + 1, *match = here + m + 1;
  double total = 0.0;
  for (std::int32_t i = 0; i < n; ++i) {
    find_matches(i, match);
    total = next_row(match, above, gap, m, here, total);
    std::swap(above, here);
  }
  return total;
}

// The reverse of it. pull_cell(bar, g, match) adds to the derivative by Q before a cell what comes by Q behind it, g, and
// by the sum: kernels round this in orders of their own. push_row(i, above, here_bar) gets, row by row from the last to
// the first, Q of the row above and the derivatives by Q. Returns the derivative by the decay of gaps.
template <class FindMatches, class PullCell, class PushRow>
double pull_dense(std::int32_t n, std::int64_t m, double gap, std::vector<double>& rows,
                  const FindMatches& find_matches, const PullCell& pull_cell, const PushRow& push_row) {
  const std::int64_t width = m + 1;
  // Q and its derivative with a border of zeros, and the matches of one row.
  rows.assign(2 * (n + 1) * width + width, 0.0);
  double *q = rows.data(), *q_bar = q + (n + 1) * width, *match = q_bar + (n + 1) * width;
  for (std::int32_t i = 0; i < n; ++i) {
    find_matches(i, match);
    next_row(match, q + i * width, gap, m, q + (i + 1) * width);
  }
  double slope = 0.0;
  for (std::int32_t i = n - 1; i >= 0; --i) {
    find_matches(i, match);
    const double *above = q + i * width, *here = q + (i + 1) * width;
    double *above_bar = q_bar + i * width, *here_bar = q_bar + (i + 1) * width;
    for (std::int64_t j = m - 1; j >= 0; --j) {
      const double g = here_bar[j + 1];
      above_bar[j + 1] += gap * g;
      here_bar[j] += gap * g;
      pull_cell(above_bar[j], g, match[j]);
      slope += g * (above[j + 1] + here[j] - 2.0 * gap * above[j]);
    }
    push_row(i, above, here_bar);
  }
  return slope;
}

}  // namespace espalier
