// The subtrees of a forest that stand in its trees, children first, before a pattern orders them.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "corpus/forest_view.hpp"

namespace espalier {

// Inner nodes and leaves of one side, each with the group (tree) it belongs to where trees stand apart.
struct Collected {
  std::vector<std::int32_t> subtree, group, symbol;  // what symbols are is up to the pattern
  std::vector<std::int32_t> entry;                   // by entry of the forest's trees: where it stands here

  std::int32_t size() const { return static_cast<std::int32_t>(subtree.size()); }
};

inline Collected collect_subtrees(const ForestView& forest, bool per_tree) {
  Collected out;
  const std::int64_t first = forest.tree_start[0], n_entries = forest.tree_start[forest.n_trees] - first;
  if (per_tree) {
    out.entry.resize(n_entries);
    std::iota(out.entry.begin(), out.entry.end(), 0);
    for (std::int64_t t = 0; t < forest.n_trees; ++t) {
      for (std::int64_t e = forest.tree_start[t]; e < forest.tree_start[t + 1]; ++e) {
        out.subtree.push_back(forest.tree_subtree[e]);
        out.group.push_back(static_cast<std::int32_t>(t));
      }
    }
    return out;
  }
  std::vector<std::int32_t> id(forest.n_subtrees, -1);
  for (std::int64_t e = 0; e < n_entries; ++e) id[forest.tree_subtree[first + e]] = 0;
  for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {
    if (id[u] < 0) continue;
    id[u] = out.size();
    out.subtree.push_back(u);
    out.group.push_back(0);
  }
  out.entry.resize(n_entries);
  for (std::int64_t e = 0; e < n_entries; ++e) out.entry[e] = id[forest.tree_subtree[first + e]];
  return out;
}

// Calls visit(child) for each child of a collected node; children lie in the group of their parent.
class Children {
 public:
  Children(const ForestView& forest, const Collected& nodes)
      : forest_(forest), nodes_(nodes), id_(forest.n_subtrees, -1) {}
  // Nodes must be visited in ascending order.
  template <class Visit>
  void visit(std::int32_t node, const Visit& visit) {
    for (; next_ <= node; ++next_) id_[nodes_.subtree[next_]] = next_;
    const std::int32_t u = nodes_.subtree[node];
    for (std::int64_t k = forest_.child_start[u]; k < forest_.child_start[u + 1]; ++k) visit(id_[forest_.child[k]]);
  }

 private:
  const ForestView& forest_;
  const Collected& nodes_;
  std::vector<std::int32_t> id_;
  std::int32_t next_ = 0;
};

}  // namespace espalier
