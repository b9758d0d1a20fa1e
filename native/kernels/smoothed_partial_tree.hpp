// Smoothed partial trees: Delta(u, v) = match(labels) * H(u, v), H = depth_decay * (decay^2 + sum over common subsequences
// of children), the matrix F Delta F^T, and their reverse mode.
//
// Two symbols match by mix * [they are equal] + (1 - mix) * similarity, which is 1 for equal ones. H is stored, not
// Delta: where a match is 0 its derivative by mix still needs H.
#pragma once

#include <cstdint>
#include <vector>

#include "jobs/gate.hpp"
#include "jobs/team.hpp"
#include "kernels/buffer.hpp"
#include "kernels/common_subsequences.hpp"
#include "kernels/occurrences.hpp"
#include "kernels/smoothed_partial_tree_pattern.hpp"

namespace espalier {

// Hyperparameters by slot of a label, and tables of similarities, rows x columns: of words and, where labels match
// softly, of labels, of words with labels and of labels with words.
struct SmoothedSettings {
  const double *decay, *depth_decay;
  double mix;
  const double *words, *labels, *word_labels, *label_words;
};

constexpr std::int32_t kLeaves = -1, kLeafAndNode = -2;  // instead of a block

// Children i of a row's shape and j of a column's that match, with their symbols.
struct SoftCell {
  std::int32_t i, j, x, y;
  std::int32_t block;  // or kLeaves, or kLeafAndNode
  bool is_swapped;     // the block's rows are those of y
};

struct SoftCells : Cells<SoftCell> {
  void find(const SmoothedPattern& pattern, std::int32_t row_shape, std::int32_t column_shape);
  // Calls visit(cell) for the cells of row i, left to right.
  template <class Visit>
  void visit_row(std::int32_t i, const Visit& visit) const {
    const std::int32_t x = row_[i];
    if (x < 0) return;
    for (std::int32_t j = 0; j < n_columns_; ++j) {
      const std::int32_t y = column_[j];
      if (y < 0) continue;
      if (x == pattern_->n_buckets || y == pattern_->n_buckets) {
        const bool is_row_leaf = x == pattern_->n_buckets;
        if (x == y) {
          visit(SoftCell{i, j, x, y, kLeaves, false});
        } else if (pattern_->may_match_leaf(is_row_leaf ? y : x, is_row_leaf)) {
          visit(SoftCell{i, j, x, y, kLeafAndNode, false});
        }
        continue;
      }
      if (x != y && !pattern_->soft_labels) continue;
      const bool is_swapped = pattern_->symmetric && y > x;
      const std::int32_t block = is_swapped ? pattern_->find_block(y, x) : pattern_->find_block(x, y);
      if (block >= 0) visit(SoftCell{i, j, x, y, block, is_swapped});
    }
  }

 private:
  const SmoothedPattern* pattern_ = nullptr;
  const std::int32_t *row_ = nullptr, *column_ = nullptr;
  std::int32_t n_columns_ = 0;
};

class SmoothedTreePlan {
 public:
  SmoothedTreePlan(const ForestView& a, const ForestView* b, bool per_tree, bool soft_labels, Listener listener = {});

  const SmoothedPattern& pattern() const { return pattern_; }
  std::int64_t n_rows() const { return pattern_.rows.n_trees; }
  std::int64_t n_columns() const { return pattern_.n_columns; }
  // Finds the pairs, where labels match softly; called once before any of the following.
  void link(const LabelTables& similarity);
  std::int64_t table_bytes() const;
  std::int64_t matrix_bytes() const { return table_bytes() + 8 * pattern_.n_pairs; }
  std::int64_t pull_back_bytes() const;

  // Fills out, n_rows x n_columns, and returns whether every value is finite.
  bool matrix(const SmoothedSettings& settings, Team& team, double* out);
  void pull_back(const SmoothedSettings& settings, const double* cotangent, Team& team, double* decay_bar,
                 double* depth_decay_bar, double* mix_bar);
  void release();
  // Held by whoever computes or releases: a plan's buffers serve one call at a time.
  Gate& gate() { return gate_; }

 private:
  // Rows [first, first + n) of one run with the columns of some runs.
  struct Piece {
    std::int32_t block;
    std::int64_t run, first, n, column_run, column_run_end;
  };
  // The pieces whose tallest nodes have one height, in tasks.
  struct Level {
    std::vector<Piece> pieces;
    std::vector<std::int64_t> task_start;
  };
  // What two labels give at the current hyperparameters.
  struct Rule {
    double match, slope;  // the match of the labels and its derivative by mix
    double depth_decay, square, gap;
    double base, terminal;  // Delta of two terminal nodes is base + terminal * the match of their words
  };
  // Sums over pairs of words that match by formula: of a derivative, and of it times the similarity and times equality.
  struct Sums {
    double one = 0.0, similar = 0.0, equal = 0.0;
  };
  struct Scratch : ChainScratch {
    SoftCells cells;
    std::vector<double> light, label;
    std::vector<Sums> sums;   // by cell
    std::vector<Sums> twins;  // by slot
  };

  void add_pieces(std::int32_t block);
  void add_piece(std::int32_t height, Piece piece);
  void set(const SmoothedSettings& settings);
  Rule rule_of(std::int32_t p, std::int32_t q) const;
  void compute_h(const SmoothedSettings& settings, Team& team);
  void fill_block(const Piece& piece, std::int64_t column_run, Scratch& scratch, Team& team, int worker);
  double fill_pair_dense(const Piece& piece, std::int64_t k, std::int64_t column_run, std::int64_t l, double gap,
                         Scratch& scratch, Team& team, int worker);
  void gather(const SoftCell& cell, std::int64_t run, std::int64_t k, std::int64_t column_run, std::int64_t first,
              std::int64_t n, double* out) const;
  std::int64_t pair_index(const SoftCell& cell, std::int64_t at, std::int64_t bt) const;
  double word_match(std::int32_t w, std::int32_t other) const;
  // Delta of a leaf and an inner node, where their labels match with 1.
  double twin_weight(std::int32_t slot) const;
  // The similarity of a leaf of the rows with inner nodes of the columns, and of inner nodes of the rows with a leaf.
  double word_label(std::int32_t w, std::int32_t slot) const;
  double label_word(std::int32_t slot, std::int32_t w) const;
  void gather_twins(const SoftCell& cell, std::int32_t w, const std::int32_t* words, std::int64_t n, double* out) const;
  // Calls visit(slot, similarity, whether it is the same label) for the inner nodes of the columns that a leaf of tree s
  // may match; and visit(word, similarity, whether it is the same label) for the leaves that an inner node may.
  template <class Visit>
  void each_label_of_word(std::int64_t s, std::int32_t w, const Visit& visit) const;
  template <class Visit>
  void each_word_of_label(std::int64_t s, std::int32_t slot, const Visit& visit) const;
  void stored_row(std::int64_t s, double* out) const;
  void light_row(std::int64_t s, double* out, Scratch& scratch) const;
  // Calls visit(tree, its column, weight) for the trees that row s meets by formula.
  template <class Visit>
  void each_column(std::int64_t s, const Visit& visit) const {
    if (pattern_.per_tree) return visit(s, std::int64_t{0}, 0.5);
    const std::int64_t end = pattern_.symmetric ? s : n_columns();
    for (std::int64_t t = 0; t < end; ++t) visit(t, t, 1.0);
    if (pattern_.symmetric) visit(s, s, 0.5);  // a symmetric matrix is completed by adding its transpose
  }

  void prepare_pull_back();
  void spread_row(std::int64_t u, const double* cotangent, double factor);
  void pull_light(std::int64_t s, const double* row, double factor, Scratch& scratch);
  void pull_block(const Piece& piece, std::int64_t column_run, Scratch& scratch, Team& team, int worker);
  double pull_row(const Piece& piece, std::int64_t k, std::int64_t column_run, std::int64_t n_columns, const Rule& rule,
                  const double* bar, Scratch& scratch);
  double pull_pair_dense(const Piece& piece, std::int64_t k, std::int64_t column_run, std::int64_t l, const Rule& rule,
                         double bar, Scratch& scratch, Team& team, int worker);
  void push(const SoftCell& cell, std::int64_t run, std::int64_t k, std::int64_t column_run, std::int64_t first,
            std::int64_t n, const double* match_bar, Sums& sums, Scratch& scratch) const;
  void add_words(std::int32_t w, const std::int32_t* words, const double* bar, std::int64_t n, Sums& sums) const;
  void add_twins(const SoftCell& cell, std::int32_t w, const std::int32_t* words, const double* bar, std::int64_t n,
                 Sums& sums) const;
  void settle_label(std::int32_t p, std::int32_t q, const Rule& rule, double h_bar, double square_bar, double gap_bar,
                    Scratch& scratch) const;
  void settle(const SoftCell& cell, const Sums& sums, Scratch& scratch) const;
  void settle_twins(std::int32_t slot, const Sums& sums, Scratch& scratch) const;

  SmoothedPattern pattern_;
  std::vector<Level> levels_;  // by height
  std::vector<std::int64_t> tree_tasks_;
  SmoothedSettings settings_{};
  double leaf_ = 0.0;                     // Delta of two equal leaves
  std::vector<double> root_, deep_root_;  // by slot: square roots of decay and depth decay
  Buffer h_, bar_, symmetric_;            // bar_: behind the pairs, the derivatives by decays, depth decays and mix
  std::vector<double> current_;

  RowOccurrences row_where_;
  std::vector<std::int64_t> spread_tasks_;
  std::vector<std::int32_t> by_first_tree_;
  Gate gate_;
  bool prepared_ = false;
};

// Where H of a row node and a column node at these positions of a cell's labels is stored; -1 for two terminal nodes.
inline std::int64_t SmoothedTreePlan::pair_index(const SoftCell& cell, std::int64_t at, std::int64_t bt) const {
  const Block& block = pattern_.blocks[cell.block];
  if (cell.is_swapped) {
    return bt < block.row_terminals && at < block.column_terminals ? -1 : block.row(bt) + at;
  }
  if (at < block.row_terminals && bt < block.column_terminals) return -1;
  return block.is_triangle && bt > at ? block.row(bt) + at : block.row(at) + bt;
}

}  // namespace espalier
