#include "kernels/smoothed_partial_tree.hpp"

#include <algorithm>
#include <cmath>

#include "jobs/levels.hpp"

namespace espalier {

namespace {

constexpr std::int64_t kTaskWork = 1 << 15;

}  // namespace

void SoftCells::find(const SmoothedPattern& pattern, std::int32_t row_shape, std::int32_t column_shape) {
  pattern_ = &pattern;
  row_ = pattern.shape_symbol.data() + pattern.shape_start[row_shape];
  column_ = pattern.shape_symbol.data() + pattern.shape_start[column_shape];
  n_columns_ = static_cast<std::int32_t>(pattern.arity(column_shape));
  const auto n = static_cast<std::int32_t>(pattern.arity(row_shape));
  clear();
  list(n, [&](std::int32_t i, const auto& visit) { visit_row(i, visit); });
  if (!many) find_chains();
}

SmoothedTreePlan::SmoothedTreePlan(const ForestView& a, const ForestView* b, bool per_tree, bool soft_labels,
                                   Listener listener)
    : pattern_(make_smoothed_pattern(a, b, per_tree, soft_labels, listener)) {
  tree_tasks_.push_back(0);
  for (std::int64_t s = 0; s < n_rows(); ++s) {
    if (s + 1 == n_rows() || (s + 1) % 8 == 0) tree_tasks_.push_back(s + 1);
  }
  if (!soft_labels) link({});
}

void SmoothedTreePlan::link(const LabelTables& similarity) {
  link_blocks(pattern_, similarity);
  levels_.clear();
  for (std::size_t block = 0; block < pattern_.blocks.size(); ++block) add_pieces(static_cast<std::int32_t>(block));
  for (Level& level : levels_) {
    level.task_start.assign(1, 0);
    std::int64_t work = 0;
    for (std::size_t k = 0; k < level.pieces.size(); ++k) {
      const Piece& piece = level.pieces[k];
      const SmoothedSide& cols = pattern_.cols();
      const std::int64_t last = piece.column_run_end - 1;
      work += piece.n * (cols.run_start[last] + cols.run_size[last] - cols.run_start[piece.column_run]);
      if (work < kTaskWork && k + 1 < level.pieces.size()) continue;
      level.task_start.push_back(static_cast<std::int64_t>(k) + 1);
      work = 0;
    }
  }
}

// A pair is computed when the pairs of its children are: in a triangle, and where rows are no columns, by the height of
// its row; elsewhere by the larger of both heights.
void SmoothedTreePlan::add_pieces(std::int32_t number) {
  const Block& block = pattern_.blocks[number];
  const SmoothedSide &rows = pattern_.rows, &cols = pattern_.cols();
  for (std::int64_t run = rows.bucket_run_start[block.p]; run < rows.bucket_run_start[block.p + 1]; ++run) {
    const std::int32_t height = rows.run_height[run];
    if (block.is_triangle && height == 0) continue;
    const std::int64_t skipped = height == 0 && block.column_terminals > 0 ? 1 : 0;
    std::int64_t first = cols.bucket_run_start[block.q] + skipped;
    const std::int64_t end = block.is_triangle ? run + 1 : cols.bucket_run_start[block.q + 1];
    const bool by_row = block.is_triangle || !pattern_.symmetric;
    while (first < end) {
      const std::int32_t level = by_row ? height : std::max(height, cols.run_height[first]);
      std::int64_t last = by_row ? end : first;
      while (last < end && cols.run_height[last] <= level) ++last;
      add_piece(level, {number, run, 0, rows.run_size[run], first, last});
      first = last;
    }
  }
}

void SmoothedTreePlan::add_piece(std::int32_t height, Piece piece) {
  if (height >= static_cast<std::int32_t>(levels_.size())) levels_.resize(height + 1);
  const std::int64_t size = piece.n, last = piece.column_run_end - 1;
  const SmoothedSide& cols = pattern_.cols();
  const std::int64_t columns = cols.run_start[last] + cols.run_size[last] - cols.run_start[piece.column_run];
  const std::int64_t step = std::max<std::int64_t>(1, kTaskWork / columns);
  for (piece.first = 0; piece.first < size; piece.first += step) {
    piece.n = std::min(step, size - piece.first);
    levels_[height].pieces.push_back(piece);
  }
}

std::int64_t SmoothedTreePlan::table_bytes() const {
  const std::int64_t of_words = 8 * pattern_.rows.n_words() * pattern_.cols().n_words();
  if (!pattern_.soft_labels) return of_words;
  return of_words + (8 + sizeof(Block) + 4) * pattern_.n_row_labels * pattern_.n_column_labels +
         8 * (pattern_.rows.n_words() * pattern_.n_column_labels + pattern_.n_row_labels * pattern_.cols().n_words());
}

std::int64_t SmoothedTreePlan::pull_back_bytes() const {
  // Two tables over the children of the widest pair, where cells are many.
  const std::int64_t wide = pattern_.widest > 5 ? (pattern_.widest + 1) * (pattern_.widest + 1) : 0;
  return table_bytes() + 8 * (2 * pattern_.n_pairs + 2 * wide);
}

void SmoothedTreePlan::release() {
  h_.release();
  bar_.release();
  symmetric_.release();
  current_.clear();
}

void SmoothedTreePlan::set(const SmoothedSettings& settings) {
  settings_ = settings;
  const std::size_t leaf_slot = pattern_.labels.size();
  leaf_ = settings.depth_decay[leaf_slot] * settings.decay[leaf_slot] * settings.decay[leaf_slot];
  root_.resize(leaf_slot);
  deep_root_.resize(leaf_slot);
  for (std::size_t slot = 0; slot < leaf_slot; ++slot) {
    root_[slot] = std::sqrt(settings.decay[slot]);
    deep_root_[slot] = std::sqrt(settings.depth_decay[slot]);
  }
}

SmoothedTreePlan::Rule SmoothedTreePlan::rule_of(std::int32_t p, std::int32_t q) const {
  const std::size_t a = pattern_.slot[p], b = pattern_.slot[q];
  Rule rule{1.0, 0.0, settings_.depth_decay[a], settings_.decay[a] * settings_.decay[b], settings_.decay[a], 0.0, 0.0};
  if (a != b) {
    const double similarity =
        settings_.labels[pattern_.row_label[a] * pattern_.n_column_labels + pattern_.column_label[b]];
    rule.match = (1.0 - settings_.mix) * similarity;
    rule.slope = -similarity;
    rule.depth_decay = deep_root_[a] * deep_root_[b];
    rule.gap = root_[a] * root_[b];
  }
  rule.base = rule.match * rule.depth_decay * rule.square;
  rule.terminal = rule.match * rule.depth_decay * leaf_;
  return rule;
}

inline double SmoothedTreePlan::word_match(std::int32_t w, std::int32_t other) const {
  const double similarity = settings_.words[w * pattern_.cols().n_words() + other];
  return (1.0 - settings_.mix) * similarity + (pattern_.same_word[w] == other ? settings_.mix : 0.0);
}

double SmoothedTreePlan::twin_weight(std::int32_t slot) const {
  const std::size_t leaf = pattern_.labels.size();
  const double own = settings_.depth_decay[slot], other = settings_.depth_decay[leaf];
  const double root = own == other ? own : deep_root_[slot] * std::sqrt(other);
  return root * settings_.decay[slot] * settings_.decay[leaf];
}

double SmoothedTreePlan::word_label(std::int32_t w, std::int32_t slot) const {
  if (!pattern_.soft_labels) return pattern_.row_word[slot] == w ? 1.0 : 0.0;
  return settings_.word_labels[w * pattern_.n_column_labels + pattern_.column_label[slot]];
}

double SmoothedTreePlan::label_word(std::int32_t slot, std::int32_t w) const {
  if (!pattern_.soft_labels) return pattern_.column_word[slot] == w ? 1.0 : 0.0;
  return settings_.label_words[pattern_.row_label[slot] * pattern_.cols().n_words() + w];
}

// Delta of children of which one is a leaf: of the row's (w), or of the columns' (words).
void SmoothedTreePlan::gather_twins(const SoftCell& cell, std::int32_t w, const std::int32_t* words, std::int64_t n,
                                    double* out) const {
  const bool is_row_leaf = cell.x == pattern_.n_buckets;
  const std::int32_t slot = pattern_.slot[is_row_leaf ? cell.y : cell.x];
  const double weight = twin_weight(slot), extra = weight * settings_.mix, factor = weight * (1.0 - settings_.mix);
  if (is_row_leaf) {
    std::fill(out, out + n, factor * word_label(w, slot) + (pattern_.row_word[slot] == w ? extra : 0.0));
    return;
  }
  const std::int32_t same = pattern_.column_word[slot];
  for (std::int64_t l = 0; l < n; ++l) out[l] = factor * label_word(slot, words[l]) + (words[l] == same ? extra : 0.0);
}

// out[l] = Delta of child i of one row with child j of columns first .. first + n of a run.
void SmoothedTreePlan::gather(const SoftCell& cell, std::int64_t run, std::int64_t k, std::int64_t column_run,
                              std::int64_t first, std::int64_t n, double* out) const {
  const SmoothedSide &rows = pattern_.rows, &cols = pattern_.cols();
  const std::int64_t row_child = rows.child_index(run, cell.i, k);
  const std::int64_t column_child = cols.child_index(column_run, cell.j, first);
  const std::int32_t w = rows.child_word[row_child];
  const std::int32_t* words = cols.child_word.data() + column_child;
  if (cell.block == kLeafAndNode) return gather_twins(cell, w, words, n, out);
  const Rule rule = cell.block < 0 ? Rule{1.0, 0.0, 1.0, 0.0, 0.0, 0.0, leaf_} : rule_of(cell.x, cell.y);
  if (cell.block < 0 || (rows.only_terminals(cell.x) && cols.only_terminals(cell.y))) {
    const double* row = settings_.words + w * cols.n_words();
    const double factor = rule.terminal * (1.0 - settings_.mix);
    for (std::int64_t l = 0; l < n; ++l) out[l] = rule.base + factor * row[words[l]];
    if (settings_.mix == 0.0) return;
    const std::int32_t same = pattern_.same_word[w];
    const double extra = rule.terminal * settings_.mix;
    for (std::int64_t l = 0; l < n; ++l) out[l] += words[l] == same ? extra : 0.0;
    return;
  }
  const Block& block = pattern_.blocks[cell.block];
  const std::int32_t a = rows.child[row_child];
  const std::int32_t* b = cols.child.data() + column_child;
  const std::int64_t at = rows.position(a), origin = cols.bucket_start[cell.y];
  const double* h = h_.data();
  if (!cell.is_swapped && !block.is_triangle && at >= block.row_terminals) {
    const std::int64_t own = block.row(at) - origin;
    for (std::int64_t l = 0; l < n; ++l) out[l] = rule.match * h[own + b[l]];
    return;
  }
  for (std::int64_t l = 0; l < n; ++l) {
    const std::int64_t index = pair_index(cell, at, b[l] - origin);
    out[l] = index >= 0 ? rule.match * h[index] : rule.base + rule.terminal * word_match(w, words[l]);
  }
}

// The sum over common subsequences of one pair with many matching cells.
double SmoothedTreePlan::fill_pair_dense(const Piece& piece, std::int64_t k, std::int64_t column_run, std::int64_t l,
                                         double gap, Scratch& scratch, Team& team, int worker) {
  const std::int64_t m = pattern_.arity(pattern_.cols().run_shape[column_run]);
  const auto n = static_cast<std::int32_t>(pattern_.arity(pattern_.rows.run_shape[piece.run]));
  return dense_sum(n, m, gap, scratch.rows, [&](std::int32_t i, double* match) {
    if (i % 64 == 0) team.breathe(worker);
    std::fill(match, match + m, 0.0);
    scratch.cells.visit_row(
        i, [&](const SoftCell& cell) { gather(cell, piece.run, k, column_run, l, 1, match + cell.j); });
  });
}

void SmoothedTreePlan::fill_block(const Piece& piece, std::int64_t column_run, Scratch& scratch, Team& team,
                                  int worker) {
  const SmoothedSide &rows = pattern_.rows, &cols = pattern_.cols();
  const Block& block = pattern_.blocks[piece.block];
  const Rule rule = rule_of(block.p, block.q);
  SoftCells& set = scratch.cells;
  set.find(pattern_, rows.run_shape[piece.run], cols.run_shape[column_run]);
  if (!set.many) scratch.set_weights(set.gap, rule.gap);
  const bool own = block.is_triangle && column_run == piece.run;
  const std::int64_t column0 = cols.position(cols.run_start[column_run]);
  scratch.value.resize(std::max<std::size_t>(scratch.value.size(), set.size() * kBlock));
  scratch.match.resize(kBlock);
  for (std::int64_t k = piece.first; k < piece.first + piece.n; ++k) {
    const std::int64_t n_columns = own ? k + 1 : cols.run_size[column_run];
    double* row = h_.data() + (block.row(rows.position(rows.run_start[piece.run]) + k) + column0);
    std::fill(row, row + n_columns, rule.square);
    if (set.many) {
      for (std::int64_t l = 0; l < n_columns; ++l) {
        row[l] += fill_pair_dense(piece, k, column_run, l, rule.gap, scratch, team, worker);
      }
    }
    for (std::int64_t first = 0; first < n_columns && !set.many; first += kBlock) {
      const std::int64_t n = std::min(kBlock, n_columns - first);
      const auto find = [&](const SoftCell& cell, double* to) { gather(cell, piece.run, k, column_run, first, n, to); };
      add_chains(set, scratch, n, find, row + first);
    }
    for (std::int64_t l = 0; l < n_columns; ++l) row[l] *= rule.depth_decay;
  }
}

void SmoothedTreePlan::compute_h(const SmoothedSettings& settings, Team& team) {
  const std::size_t n_slots = pattern_.labels.size() + 1;
  std::vector<double> wanted(settings.decay, settings.decay + n_slots);
  wanted.insert(wanted.end(), settings.depth_decay, settings.depth_decay + n_slots);
  wanted.push_back(settings.mix);
  set(settings);
  if (wanted == current_) return;
  current_.clear();
  h_.reserve(std::max<std::int64_t>(pattern_.n_pairs, 1), team);
  std::vector<Scratch> scratch(team.size());
  run_levels(
      levels_, team, [](const Level& level) { return std::ssize(level.task_start) - 1; },
      [&](const Level& level, std::int64_t task, int worker) {
        for (std::int64_t k = level.task_start[task]; k < level.task_start[task + 1]; ++k) {
          const Piece& piece = level.pieces[k];
          for (std::int64_t run = piece.column_run; run < piece.column_run_end; ++run) {
            fill_block(piece, run, scratch[worker], team, worker);
          }
        }
      });
  current_ = std::move(wanted);
}

}  // namespace espalier
