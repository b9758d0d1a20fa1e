#include "kernels/runs.hpp"

namespace espalier {

std::vector<std::int32_t> nodes_of(const std::vector<RunItem>& items, const Collected& raw) {
  std::vector<std::int32_t> node(raw.subtree.size(), -1);
  for (std::size_t u = 0; u < items.size(); ++u) node[items[u].raw] = static_cast<std::int32_t>(u);
  return node;
}

void add_runs(const std::vector<RunItem>& items, std::int32_t n_buckets, RunSide& side) {
  side.n_nodes = static_cast<std::int64_t>(items.size());
  side.bucket_start.assign(n_buckets + 1, 0);
  side.bucket_run_start.assign(n_buckets + 1, 0);
  for (std::int64_t u = 0; u < side.n_nodes; ++u) {
    const RunItem& item = items[u];
    ++side.bucket_start[item.bucket + 1];
    side.bucket.push_back(item.bucket);
    if (item.shape < 0) continue;
    const bool same = u > 0 && items[u - 1].bucket == item.bucket && items[u - 1].height == item.height &&
                      items[u - 1].shape == item.shape;
    if (!same) {
      side.run_start.push_back(u);
      side.run_size.push_back(0);
      side.run_shape.push_back(item.shape);
      side.run_height.push_back(item.height);
      side.run_bucket.push_back(item.bucket);
      ++side.bucket_run_start[item.bucket + 1];
    }
    ++side.run_size.back();
  }
  for (auto* starts : {&side.bucket_start, &side.bucket_run_start}) {
    for (std::int32_t p = 0; p < n_buckets; ++p) (*starts)[p + 1] += (*starts)[p];
  }
}

std::vector<std::int32_t> add_child_starts(const ForestView& forest, const Collected& raw,
                                           const std::vector<RunItem>& items, RunSide& side) {
  std::vector<std::int32_t> run_of(side.n_nodes, -1);
  side.run_child.assign(1, 0);
  for (std::size_t run = 0; run < side.run_start.size(); ++run) {
    const std::int32_t u = raw.subtree[items[side.run_start[run]].raw];
    side.run_child.push_back(side.run_child.back() +
                             side.run_size[run] * (forest.child_start[u + 1] - forest.child_start[u]));
    std::fill_n(run_of.begin() + side.run_start[run], side.run_size[run], static_cast<std::int32_t>(run));
  }
  return run_of;
}

Occurrences node_occurrences(const RunSide& side, bool per_tree, std::vector<std::int64_t>& place) {
  Occurrences out = occurrences(side.n_nodes, side.tree_start, side.tree_node, side.tree_count, per_tree, place);
  for (std::int64_t v = 0; v < side.n_nodes; ++v) {
    out.position.insert(out.position.end(), out.start[v + 1] - out.start[v],
                        static_cast<std::int32_t>(side.position(v)));
  }
  return out;
}

}  // namespace espalier
