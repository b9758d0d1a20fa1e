// The reverse mode of smoothed_partial_tree.cpp.
//
// Levels run from the tallest down. Each task lists what it adds to pairs of less tall nodes and to the derivatives by
// hyperparameters, and the lists are applied in the order of the tasks: the result does not depend on the number of
// threads.
#include <algorithm>

#include "kernels/smoothed_partial_tree.hpp"
#include "kernels/sums.hpp"
#include "kernels/symmetric.hpp"

namespace espalier {

void SmoothedTreePlan::add_words(std::int32_t w, const std::int32_t* words, const double* bar, std::int64_t n,
                                 Sums& sums) const {
  const double* row = settings_.words + w * pattern_.cols().n_words();
  const std::int32_t same = pattern_.same_word[w];
  double one = 0.0, similar = 0.0, equal = 0.0;
  for (std::int64_t l = 0; l < n; ++l) {
    one += bar[l];
    similar += bar[l] * row[words[l]];
    equal += words[l] == same ? bar[l] : 0.0;
  }
  sums.one += one;
  sums.similar += similar;
  sums.equal += equal;
}

void SmoothedTreePlan::add_twins(const SoftCell& cell, std::int32_t w, const std::int32_t* words, const double* bar,
                                 std::int64_t n, Sums& sums) const {
  const bool is_row_leaf = cell.x == pattern_.n_buckets;
  const std::int32_t slot = pattern_.slot[is_row_leaf ? cell.y : cell.x];
  if (is_row_leaf) {
    const double one = sum(bar, n);
    sums.similar += one * word_label(w, slot);
    if (pattern_.row_word[slot] == w) sums.equal += one;
    return;
  }
  double similar = 0.0, equal = 0.0;
  for (std::int64_t l = 0; l < n; ++l) {
    similar += bar[l] * label_word(slot, words[l]);
    equal += words[l] == pattern_.column_word[slot] ? bar[l] : 0.0;
  }
  sums.similar += similar;
  sums.equal += equal;
}

// Passes derivatives by what two labels share on to their hyperparameters: h_bar is the sum over pairs of the derivative
// by Delta times H; the others are those by decay[p] * decay[q] and by its square root, the decay of gaps.
void SmoothedTreePlan::settle_label(std::int32_t p, std::int32_t q, const Rule& rule, double h_bar, double square_bar,
                                    double gap_bar, Scratch& scratch) const {
  const auto n_slots = static_cast<std::int64_t>(pattern_.labels.size()) + 1;
  const std::int64_t decay = pattern_.n_pairs, depth_decay = decay + n_slots, mix = depth_decay + n_slots;
  const std::int64_t slots[2] = {pattern_.slot[p], pattern_.slot[q]};
  for (int side = 0; side < 2; ++side) {
    const double own = settings_.decay[slots[side]], other = settings_.decay[slots[1 - side]];
    scratch.pushes.push_back({decay + slots[side], square_bar * other + 0.5 * gap_bar * rule.gap / own});
    scratch.pushes.push_back(
        {depth_decay + slots[side], 0.5 * rule.match * h_bar / settings_.depth_decay[slots[side]]});
  }
  if (rule.slope != 0.0) scratch.pushes.push_back({mix, rule.slope * h_bar});
}

// The same for what pairs of leaves, or of terminal nodes, of a cell's labels add up to.
void SmoothedTreePlan::settle(const SoftCell& cell, const Sums& sums, Scratch& scratch) const {
  if (cell.block == kLeafAndNode) {
    return settle_twins(pattern_.slot[std::min(cell.x, cell.y)], sums, scratch);  // leaves have the last symbol
  }
  const auto n_slots = static_cast<std::int64_t>(pattern_.labels.size()) + 1;
  const std::int64_t decay = pattern_.n_pairs + n_slots - 1, depth_decay = decay + n_slots, mix = depth_decay + 1;
  const double matched = settings_.mix * sums.equal + (1.0 - settings_.mix) * sums.similar;
  double weight = 1.0;  // of a pair of words
  if (cell.block >= 0) {
    const Rule rule = rule_of(cell.x, cell.y);
    const double h_bar = rule.depth_decay * (rule.square * sums.one + leaf_ * matched);
    weight = rule.match * rule.depth_decay;
    settle_label(cell.x, cell.y, rule, h_bar, weight * sums.one, 0.0, scratch);
  }
  const double own = settings_.decay[n_slots - 1], deep = settings_.depth_decay[n_slots - 1];
  scratch.pushes.push_back({decay, 2.0 * own * deep * weight * matched});
  scratch.pushes.push_back({depth_decay, own * own * weight * matched});
  scratch.pushes.push_back({mix, weight * leaf_ * (sums.equal - sums.similar)});
}

// The same for what pairs of a leaf and an inner node with the label of a slot add up to.
void SmoothedTreePlan::settle_twins(std::int32_t slot, const Sums& sums, Scratch& scratch) const {
  const auto leaf = static_cast<std::int64_t>(pattern_.labels.size());
  const std::int64_t decay = pattern_.n_pairs, depth_decay = decay + leaf + 1, mix = depth_decay + leaf + 1;
  const double weight = twin_weight(slot);
  const double value = weight * (settings_.mix * sums.equal + (1.0 - settings_.mix) * sums.similar);
  for (const std::int64_t side : {std::int64_t{slot}, leaf}) {
    scratch.pushes.push_back({decay + side, value / settings_.decay[side]});
    scratch.pushes.push_back({depth_decay + side, 0.5 * value / settings_.depth_decay[side]});
  }
  scratch.pushes.push_back({mix, weight * (sums.equal - sums.similar)});
}

// Passes the derivative by Delta of a row's child i with children j of some columns on to where that Delta is made.
void SmoothedTreePlan::push(const SoftCell& cell, std::int64_t run, std::int64_t k, std::int64_t column_run,
                            std::int64_t first, std::int64_t n, const double* match_bar, Sums& sums,
                            Scratch& scratch) const {
  const SmoothedSide &rows = pattern_.rows, &cols = pattern_.cols();
  const std::int64_t row_child = rows.child_index(run, cell.i, k);
  const std::int64_t column_child = cols.child_index(column_run, cell.j, first);
  const std::int32_t w = rows.child_word[row_child];
  const std::int32_t* words = cols.child_word.data() + column_child;
  if (cell.block == kLeafAndNode) return add_twins(cell, w, words, match_bar, n, sums);
  if (cell.block < 0 || (rows.only_terminals(cell.x) && cols.only_terminals(cell.y))) {
    add_words(w, words, match_bar, n, sums);
    return;
  }
  const std::int64_t at = rows.position(rows.child[row_child]), origin = cols.bucket_start[cell.y];
  const std::int32_t* b = cols.child.data() + column_child;
  const bool may_be_terminal = at < rows.n_terminal(cell.x) && cols.n_terminal(cell.y) > 0;
  if (may_be_terminal) {
    for (std::int64_t l = 0; l < n; ++l) {
      const std::int64_t index = pair_index(cell, at, b[l] - origin);
      if (index < 0) {
        add_words(w, words + l, match_bar + l, 1, sums);
      } else {
        scratch.pushes.push_back({index, match_bar[l]});
      }
    }
    return;
  }
  const std::size_t size = scratch.pushes.size();
  scratch.pushes.resize(size + n);
  Push* to = scratch.pushes.data() + size;
  for (std::int64_t l = 0; l < n; ++l) to[l] = {pair_index(cell, at, b[l] - origin), match_bar[l]};
}

// Returns the derivative by the decay of gaps; as the next one, for one row of the piece with columns of a run.
double SmoothedTreePlan::pull_pair_dense(const Piece& piece, std::int64_t k, std::int64_t column_run, std::int64_t l,
                                         const Rule& rule, double bar, Scratch& scratch, Team& team, int worker) {
  const SoftCells& set = scratch.cells;
  const std::int64_t m = pattern_.arity(pattern_.cols().run_shape[column_run]);
  const auto n = static_cast<std::int32_t>(pattern_.arity(pattern_.rows.run_shape[piece.run]));
  const double gap = rule.gap, sum_bar = bar * rule.match * rule.depth_decay;
  const auto find_matches = [&](std::int32_t i, double* match) {
    if (i % 64 == 0) team.breathe(worker);
    std::fill(match, match + m, 0.0);
    set.visit_row(i, [&](const SoftCell& cell) { gather(cell, piece.run, k, column_run, l, 1, match + cell.j); });
  };
  const auto pull_cell = [&](double& above_bar, double g, double match) {
    above_bar += (sum_bar + g) * match - gap * gap * g;
  };
  const auto push_row = [&](std::int32_t i, const double* above, const double* here_bar) {
    // Neighbours mostly have the same labels: their sums are settled together.
    Sums sums;
    SoftCell last{-1, -1, -1, -1, -1, false};
    set.visit_row(i, [&](const SoftCell& cell) {
      if (last.i >= 0 && cell.y != last.y) {
        settle(last, sums, scratch);
        sums = Sums();
      }
      last = cell;
      const double match_bar = (sum_bar + here_bar[cell.j + 1]) * (1.0 + above[cell.j]);
      push(cell, piece.run, k, column_run, l, 1, &match_bar, sums, scratch);
    });
    if (last.i >= 0) settle(last, sums, scratch);
    scratch.keep_pushes_few();
  };
  return pull_dense(n, m, gap, scratch.rows, find_matches, pull_cell, push_row);
}

double SmoothedTreePlan::pull_row(const Piece& piece, std::int64_t k, std::int64_t column_run, std::int64_t n_columns,
                                  const Rule& rule, const double* bar, Scratch& scratch) {
  const SoftCells& set = scratch.cells;
  double slope = 0.0;
  for (std::int64_t first = 0; first < n_columns; first += kBlock) {
    const std::int64_t n = std::min(kBlock, n_columns - first);
    scratch.keep_pushes_few();
    const auto find = [&](const SoftCell& cell, double* to) { gather(cell, piece.run, k, column_run, first, n, to); };
    const auto push_cell = [&](std::int64_t c, const double* match_bar) {
      push(set.cells[c], piece.run, k, column_run, first, n, match_bar, scratch.sums[c], scratch);
    };
    pull_chains(set, scratch, n, rule.match * rule.depth_decay, bar + first, find, push_cell, slope);
  }
  return slope;
}

void SmoothedTreePlan::pull_block(const Piece& piece, std::int64_t column_run, Scratch& scratch, Team& team,
                                  int worker) {
  const SmoothedSide &rows = pattern_.rows, &cols = pattern_.cols();
  const Block& block = pattern_.blocks[piece.block];
  const Rule rule = rule_of(block.p, block.q);
  SoftCells& set = scratch.cells;
  set.find(pattern_, rows.run_shape[piece.run], cols.run_shape[column_run]);
  const std::size_t n_cells = set.many ? 1 : set.cells.size();
  if (!set.many) {
    scratch.set_weights(set.gap, rule.gap);
    scratch.set_slopes(set.gap, rule.gap);
  }
  scratch.sums.assign(n_cells, Sums());
  for (auto* buffer : {&scratch.match, &scratch.value, &scratch.chain, &scratch.bar}) {
    buffer->resize(std::max<std::size_t>(buffer->size(), n_cells * kBlock));
  }
  const bool own = block.is_triangle && column_run == piece.run;
  const std::int64_t column0 = cols.position(cols.run_start[column_run]);
  double one = 0.0, h_bar = 0.0, slope = 0.0;
  for (std::int64_t k = piece.first; k < piece.first + piece.n; ++k) {
    const std::int64_t n_columns = own ? k + 1 : cols.run_size[column_run];
    const std::int64_t at = block.row(rows.position(rows.run_start[piece.run]) + k) + column0;
    const double* bar = bar_.data() + at;
    one += sum(bar, n_columns);
    h_bar += dot(bar, h_.data() + at, n_columns);
    if (rule.match == 0.0 || n_cells == 0) continue;
    if (!set.many) {
      slope += pull_row(piece, k, column_run, n_columns, rule, bar, scratch);
      continue;
    }
    for (std::int64_t l = 0; l < n_columns; ++l) {
      if (bar[l] != 0.0) slope += pull_pair_dense(piece, k, column_run, l, rule, bar[l], scratch, team, worker);
    }
  }
  settle_label(block.p, block.q, rule, h_bar, rule.match * rule.depth_decay * one, slope, scratch);
  for (std::size_t c = 0; c < n_cells && !set.many; ++c) {
    const SoftCell& cell = set.cells[c];
    const bool by_formula = cell.block < 0 || (rows.n_terminal(cell.x) > 0 && cols.n_terminal(cell.y) > 0);
    if (by_formula) settle(cell, scratch.sums[c], scratch);
  }
}

void SmoothedTreePlan::pull_back(const SmoothedSettings& settings, const double* cotangent, Team& team,
                                 double* decay_bar, double* depth_decay_bar, double* mix_bar) {
  prepare_pull_back();
  team.span(0.0, 0.3);
  compute_h(settings, team);
  const auto n_slots = static_cast<std::int64_t>(pattern_.labels.size()) + 1;
  double* bar = bar_.reserve(pattern_.n_pairs + 2 * n_slots + 1, team);
  double* sums = bar + pattern_.n_pairs;
  std::fill(sums, sums + 2 * n_slots + 1, 0.0);
  double factor = 1.0;
  const double* matrix =
      pattern_.symmetric ? symmetrized(n_rows(), n_columns(), cotangent, team, symmetric_, factor) : cotangent;
  team.span(0.3, 0.6);
  team.run(static_cast<std::int64_t>(spread_tasks_.size()) - 1, [&](std::int64_t task, int) {
    for (std::int64_t k = spread_tasks_[task]; k < spread_tasks_[task + 1]; ++k) {
      spread_row(by_first_tree_[k], matrix, factor);
    }
  });
  std::vector<Scratch> scratch(team.size());
  run_pushing(std::ssize(tree_tasks_) - 1, bar, scratch, team, [&](std::int64_t task, Scratch& mine, int) {
    for (std::int64_t s = tree_tasks_[task]; s < tree_tasks_[task + 1]; ++s) {
      pull_light(s, matrix + s * n_columns(), factor, mine);
    }
  });
  team.span(0.6, 1.0);
  for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
    run_pushing(std::ssize(level->task_start) - 1, bar, scratch, team,
                [&](std::int64_t task, Scratch& mine, int worker) {
                  for (std::int64_t k = level->task_start[task]; k < level->task_start[task + 1]; ++k) {
                    const Piece& piece = level->pieces[k];
                    for (std::int64_t column_run = piece.column_run; column_run < piece.column_run_end; ++column_run) {
                      pull_block(piece, column_run, mine, team, worker);
                    }
                  }
                });
  }
  for (std::int64_t slot = 0; slot < n_slots; ++slot) {
    decay_bar[slot] += sums[slot];
    depth_decay_bar[slot] += sums[n_slots + slot];
  }
  *mix_bar += sums[2 * n_slots];
}

}  // namespace espalier
