// The end of the reverse mode of partial_tree.cpp: what was kept per row, per child and per entry becomes derivatives by
// hyperparameters, added up in one order.
#include <algorithm>

#include "kernels/partial_tree.hpp"
#include "kernels/sums.hpp"

namespace espalier {

// base = depth_decay * decay^2 of each symbol, terminal = depth_decay * base of leaves.
void PartialTreePlan::add_up(double* decay_bar, double* depth_decay_bar) const {
  const PartialSide& rows = pattern_.rows;
  const std::size_t leaf_slot = pattern_.labels.size();
  std::vector<double> base(pattern_.n_buckets + 1, 0.0), terminal(pattern_.n_buckets, 0.0);
  for (std::size_t entry = 0; entry < symbol_part_.size(); ++entry) {
    base[std::min(rows.tree_symbol[entry], pattern_.n_buckets)] += symbol_part_[entry];
  }
  for (std::size_t entry = 0; entry < terminal_part_.size(); ++entry) {
    terminal[rows.bucket[rows.tree_node[entry]]] += terminal_part_[entry];
  }
  for (std::size_t run = 0; run < rows.run_start.size(); ++run) {
    const std::int64_t shape = pattern_.shape_start[rows.run_shape[run]];
    for (std::int64_t i = 0; i < pattern_.arity(rows.run_shape[run]); ++i) {
      const std::int32_t x = pattern_.shape_symbol[shape + i];
      if (x < 0) continue;
      for (std::int64_t k = 0; k < rows.run_size[run]; ++k) {
        const std::int64_t flow = rows.child_index(run, i, k);
        base[std::min(x, pattern_.n_buckets)] += base_flow_[flow];
        if (x < pattern_.n_buckets) terminal[x] += terminal_flow_[flow];
      }
    }
  }
  for (std::int64_t u = 0; u < rows.n_nodes; ++u) {
    const std::int32_t p = rows.bucket[u];
    terminal[p] += row_terminal_[u];
    decay_bar[pattern_.slot[p]] += row_decay_[u];
    depth_decay_bar[pattern_.slot[p]] += row_depth_[u];
  }
  const double leaf_base = rules_[pattern_.n_buckets].base;
  for (std::int32_t p = 0; p < pattern_.n_buckets; ++p) {
    depth_decay_bar[pattern_.slot[p]] += terminal[p] * leaf_base;
    base.back() += terminal[p] * rules_[p].depth_decay;
  }
  for (std::int32_t p = 0; p <= pattern_.n_buckets; ++p) {
    const std::size_t slot = p < pattern_.n_buckets ? pattern_.slot[p] : leaf_slot;
    depth_decay_bar[slot] += base[p] * rules_[p].decay * rules_[p].decay;
    decay_bar[slot] += base[p] * 2.0 * rules_[p].depth_decay * rules_[p].decay;
  }
  add_up_twins(decay_bar, depth_decay_bar);
}

template <class Visit>
void PartialTreePlan::each_twin_match(const Visit& visit) const {
  const PartialSide &rows = pattern_.rows, &cols = pattern_.cols();
  for (std::size_t run = 0; run < rows.run_start.size(); ++run) {
    for (std::int64_t m = rows.match_start[run]; m < rows.match_start[run + 1]; ++m) {
      if (rows.match_bucket[m] < 0) continue;
      double total = 0.0;
      for (std::int64_t u = rows.run_start[run]; u < rows.run_start[run] + rows.run_size[run]; ++u) {
        total += bar_.data()[pattern_.row_offset[u] + cols.position(rows.match[m])];
      }
      visit(rows.run_bucket[run], rows.match_bucket[m], total);
    }
  }
  for (std::size_t run = 0; run < cols.run_start.size() && !pattern_.symmetric; ++run) {
    for (std::int64_t m = cols.match_start[run]; m < cols.match_start[run + 1]; ++m) {
      if (cols.match_bucket[m] < 0) continue;
      const double* bar = bar_.data() + (pattern_.row_offset[cols.match[m]] + cols.position(cols.run_start[run]));
      visit(cols.run_bucket[run], cols.match_bucket[m], sum(bar, cols.run_size[run]));
    }
  }
}

// What leaves and inner nodes with one label add: sqrt(depth_decay depth_decay[leaf]) decay decay[leaf] for each pair.
void PartialTreePlan::add_up_twins(double* decay_bar, double* depth_decay_bar) const {
  const PartialSide& rows = pattern_.rows;
  std::vector<double> twin(pattern_.n_buckets, 0.0);
  const auto bucket = [&](std::int32_t x) { return x < pattern_.n_buckets ? x : pattern_.twin[x]; };
  for (std::size_t entry = 0; entry < twin_part_.size(); ++entry) {
    const std::int32_t x = rows.tree_symbol[entry];
    if (pattern_.twin[x] >= 0) twin[bucket(x)] += twin_part_[entry];
  }
  for (std::size_t run = 0; run < rows.run_start.size(); ++run) {
    const std::int64_t shape = pattern_.shape_start[rows.run_shape[run]];
    for (std::int64_t i = 0; i < pattern_.arity(rows.run_shape[run]); ++i) {
      const std::int32_t x = pattern_.shape_symbol[shape + i];
      if (x < 0 || pattern_.twin[x] < 0) continue;
      for (std::int64_t k = 0; k < rows.run_size[run]; ++k) {
        twin[bucket(x)] += twin_flow_[rows.child_index(run, i, k)];
      }
    }
  }
  each_twin_match([&](std::int32_t p, std::int32_t q, double bar) {
    depth_decay_bar[pattern_.slot[p]] += bar * twin_base(q);
    twin[q] += bar * rules_[p].depth_decay;
  });
  const Rule& leaf = rules_[pattern_.n_buckets];
  const std::size_t leaf_slot = pattern_.labels.size();
  for (std::int32_t p = 0; p < pattern_.n_buckets; ++p) {
    if (pattern_.twin[p] < 0) continue;
    const double value = twin[p] * twin_base(p);
    decay_bar[pattern_.slot[p]] += value / rules_[p].decay;
    decay_bar[leaf_slot] += value / leaf.decay;
    depth_decay_bar[pattern_.slot[p]] += 0.5 * value / rules_[p].depth_decay;
    depth_decay_bar[leaf_slot] += 0.5 * value / leaf.depth_decay;
  }
}

}  // namespace espalier
