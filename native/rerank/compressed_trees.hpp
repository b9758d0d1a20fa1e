// A linear combination of trees as one forest of weighted subtrees (Collins and Duffy 2001, section 5).
//
// f(t) = sum over trees i of coefficient_i * K(t_i, t) = sum over subtrees u of t of count(u) * s(u), where
// s(u) = sum over subtrees v of the combination with u's production of weight(v) * Delta(u, v).
// Adding a tree changes the weights of its subtrees; subtrees that no added tree has are never looked at.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "corpus/forest_view.hpp"
#include "corpus/key_table.hpp"
#include "jobs/gate.hpp"
#include "jobs/pace.hpp"

namespace espalier {

// Subset trees: what a production weighs, what an unexpanded child does, by label; and how deep a fragment may be.
struct CompressedWeights {
  std::vector<double> decay, frontier;
  double leaf = 0.0;           // the weight of a leaf alone
  std::int32_t max_depth = 0;  // 0 means no limit
};

class CompressedTrees {
 public:
  explicit CompressedTrees(CompressedWeights weights) : weights_(std::move(weights)) {}

  // Adds coefficient times a tree.
  void add(const ForestView& forest, std::int64_t tree, double coefficient);
  // The values of the combination at trees [first, last). Rows of Delta are kept from tree to tree, up to a bound.
  void scores(const ForestView& forest, std::int64_t first, std::int64_t last, Pace& pace, double* out);
  // Gives labels that came later their weights; those of the others must stay the same.
  void set_labels(std::vector<double> decay, std::vector<double> frontier) {
    weights_.decay = std::move(decay);
    weights_.frontier = std::move(frontier);
  }
  std::int64_t n_subtrees() const { return static_cast<std::int64_t>(production_.size()); }
  // What weights and children take; and what all does, the tables that find subtrees included.
  std::int64_t n_bytes() const;
  std::int64_t n_bytes_in_all() const;
  Gate& gate() const { return gate_; }  // one call at a time: even scores change what is kept between trees

 private:
  using Key = std::vector<std::int32_t>;
  // What a child of a node is: its production and its place among those of that production; -1 for a leaf.
  struct Child {
    std::int32_t production, place;
  };
  // All subtrees of one production.
  struct Bucket {
    std::int32_t label = 0, n_children = 0;  // inner children
    std::vector<std::int32_t> slots;         // which children are inner
    std::vector<Child> children;             // of each member, inner children only
    std::vector<double> weight;
    bool is_leaf = false;
  };
  // A distinct subtree of trees that are scored, with its row of Delta, layer by layer of depth.
  struct Row {
    std::int32_t production = -1;
    std::int64_t offset = 0;
    double sum = 0.0;
  };

  std::int32_t production_of(const ForestView& forest, std::int32_t subtree, bool make);
  std::int32_t find_or_add(const ForestView& forest, std::int32_t subtree);
  void fill(const ForestView& forest, std::int32_t subtree, Pace& pace, Row& row);
  // Leaves count only where they weigh something alone.
  bool skips(const ForestView& forest, std::int32_t u) const { return weights_.leaf == 0.0 && forest.is_leaf(u); }
  void forget();
  std::int32_t n_layers() const { return depth_ == 0 ? 1 : depth_; }

  CompressedWeights weights_;
  KeyTable productions_, subtrees_;
  std::vector<Bucket> buckets_;
  std::vector<std::int32_t> production_, place_;  // by subtree of the combination
  Key key_;
  // Scratch of scores.
  std::unordered_map<std::int32_t, std::int32_t> row_of_;
  std::vector<Row> rows_;
  std::vector<double> delta_;
  std::int32_t depth_ = 0;  // the limit of depth where a tree that is scored is taller, else 0
  mutable Gate gate_;
};

}  // namespace espalier
