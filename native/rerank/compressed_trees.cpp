#include "rerank/compressed_trees.hpp"

#include <algorithm>

namespace espalier {
namespace {

constexpr std::size_t kMostKept = std::size_t{1} << 22;  // values of Delta: 32 MiB

template <class T>
std::int64_t bytes_of(const std::vector<T>& values) {
  return static_cast<std::int64_t>(values.capacity() * sizeof(T));
}

}  // namespace

// The number of a subtree's production, or -1 where no tree of the combination has it and none is to be made.
std::int32_t CompressedTrees::production_of(const ForestView& forest, std::int32_t subtree, bool make) {
  key_.assign(1, forest.label[subtree]);
  for (std::int64_t c = forest.child_start[subtree]; c < forest.child_start[subtree + 1]; ++c) {
    const std::int32_t child = forest.child[c];
    key_.push_back(2 * forest.label[child] + (forest.height[child] > 0));
  }
  if (!make) return productions_.find(key_);
  const std::int32_t number = productions_.number(key_);
  if (number < static_cast<std::int32_t>(buckets_.size())) return number;
  Bucket& bucket = buckets_.emplace_back();
  bucket.label = forest.label[subtree];
  bucket.is_leaf = forest.height[subtree] == 0;
  for (std::size_t c = 1; c < key_.size(); ++c) {
    if (key_[c] & 1) bucket.slots.push_back(static_cast<std::int32_t>(c - 1));
  }
  bucket.n_children = static_cast<std::int32_t>(bucket.slots.size());
  return number;
}

// The number of a subtree in the combination; its children are there already.
std::int32_t CompressedTrees::find_or_add(const ForestView& forest, std::int32_t subtree) {
  const std::int32_t production = production_of(forest, subtree, true);
  Key key{production};
  for (std::int32_t slot : buckets_[production].slots) {
    key.push_back(row_of_.at(forest.child[forest.child_start[subtree] + slot]));
  }
  const std::int32_t number = subtrees_.number(key);
  if (number < static_cast<std::int32_t>(production_.size())) return number;
  Bucket& bucket = buckets_[production];
  production_.push_back(production);
  place_.push_back(static_cast<std::int32_t>(bucket.weight.size()));
  bucket.weight.push_back(0.0);
  for (std::size_t c = 1; c < key.size(); ++c) bucket.children.push_back({production_[key[c]], place_[key[c]]});
  return number;
}

void CompressedTrees::add(const ForestView& forest, std::int64_t tree, double coefficient) {
  row_of_.clear();
  // Subtrees of a tree are listed children first.
  for (std::int64_t e = forest.tree_start[tree]; e < forest.tree_start[tree + 1]; ++e) {
    const std::int32_t subtree = forest.tree_subtree[e];
    if (skips(forest, subtree)) continue;
    const std::int32_t own = find_or_add(forest, subtree);
    row_of_[subtree] = own;
    buckets_[production_[own]].weight[place_[own]] += coefficient * forest.tree_count[e];
  }
}

// Computes Delta of one subtree with all of its production in the combination.
void CompressedTrees::fill(const ForestView& forest, std::int32_t subtree, Pace& pace, Row& row) {
  row.production = production_of(forest, subtree, false);
  if (row.production < 0) return;
  const Bucket& bucket = buckets_[row.production];
  const auto n = static_cast<std::int64_t>(bucket.weight.size());
  const std::int32_t n_layers = this->n_layers();
  row.offset = static_cast<std::int64_t>(delta_.size());
  delta_.resize(delta_.size() + n * n_layers);
  double* out = delta_.data() + row.offset;
  const double decay = bucket.is_leaf ? weights_.leaf : weights_.decay[bucket.label];
  if (bucket.n_children == 0) {
    std::fill(out, out + n * n_layers, decay);
  } else {
    const double frontier = weights_.frontier[bucket.label];
    std::fill(out, out + n * n_layers, decay);
    for (std::int32_t c = 0; c < bucket.n_children; ++c) {
      const std::int32_t child = forest.child[forest.child_start[subtree] + bucket.slots[c]];
      const Row& below = rows_[row_of_.at(child)];
      const Child* member = bucket.children.data() + c;
      pace.step(n * n_layers);
      const std::int64_t width = below.production < 0 ? 0 : buckets_[below.production].weight.size();
      // Without a limit the one layer rests on itself; with one, each rests on the layer before it, the first on none.
      const std::int32_t first = depth_ == 0 ? 0 : 1;
      for (std::int64_t k = 0; k < first * n; ++k) out[k] *= frontier;
      for (std::int32_t layer = first; layer < n_layers; ++layer) {
        const double* values = delta_.data() + below.offset + (layer - first) * width;
        double* own = out + layer * n;
        for (std::int64_t k = 0; k < n; ++k) {
          const Child& of = member[k * bucket.n_children];
          own[k] *= frontier + (of.production == below.production ? values[of.place] : 0.0);
        }
      }
    }
  }
  pace.step(n);
  const double* top = out + (n_layers - 1) * n;
  for (std::int64_t k = 0; k < n; ++k) row.sum += bucket.weight[k] * top[k];
}

void CompressedTrees::forget() {
  row_of_.clear();
  rows_.clear();
  delta_.clear();
  // One tree alone may have needed more.
  if (delta_.capacity() > 2 * kMostKept) delta_.shrink_to_fit();
}

void CompressedTrees::scores(const ForestView& forest, std::int64_t first, std::int64_t last, Pace& pace, double* out) {
  forget();
  // No fragment is deeper than the tree that is scored, so that the work follows the trees and not the limit.
  std::int32_t top = 0;
  for (std::int64_t e = forest.tree_start[first]; e < forest.tree_start[last]; ++e) {
    top = std::max(top, forest.height[forest.tree_subtree[e]]);
  }
  depth_ = weights_.max_depth < top ? weights_.max_depth : 0;
  for (std::int64_t tree = first; tree < last; ++tree) {
    if (delta_.size() > kMostKept) forget();
    double total = 0.0;
    pace.step(forest.tree_start[tree + 1] - forest.tree_start[tree]);
    for (std::int64_t e = forest.tree_start[tree]; e < forest.tree_start[tree + 1]; ++e) {
      const std::int32_t subtree = forest.tree_subtree[e];
      if (skips(forest, subtree)) continue;
      auto [at, is_new] = row_of_.try_emplace(subtree, static_cast<std::int32_t>(rows_.size()));
      const std::int32_t number = at->second;
      if (is_new) {
        Row row;
        rows_.push_back(row);
        fill(forest, subtree, pace, row);
        rows_[number] = row;
      }
      total += rows_[number].sum * forest.tree_count[e];
    }
    out[tree - first] = total;
  }
}

std::int64_t CompressedTrees::n_bytes() const {
  std::int64_t n = 0;
  for (const Bucket& bucket : buckets_) n += 8 * bucket.weight.size() + 8 * bucket.children.size();
  return n + 8 * static_cast<std::int64_t>(production_.size());
}

std::int64_t CompressedTrees::n_bytes_in_all() const {
  std::int64_t n = productions_.n_bytes() + subtrees_.n_bytes() + bytes_of(buckets_);
  for (const Bucket& bucket : buckets_)
    n += bytes_of(bucket.slots) + bytes_of(bucket.children) + bytes_of(bucket.weight);
  return n + bytes_of(production_) + bytes_of(place_);
}

}  // namespace espalier
