// A corpus of trees as the loops read it: each distinct subtree once, children before parents.
#pragma once

#include <cstdint>
#include <vector>

namespace espalier {

// A forest as arrays owned by the caller.
struct ForestView {
  std::int64_t n_subtrees, n_trees;
  const std::int32_t *label, *height, *child, *tree_subtree, *tree_count;
  const std::int64_t *child_start, *tree_start;

  bool is_leaf(std::int32_t u) const { return height[u] == 0; }
};

// Which subtrees may stand in some tree: a forest may be a small selection of a larger one.
inline std::vector<char> used_subtrees(const ForestView& forest) {
  // To look is dearer than to take a few too many.
  const bool most = forest.tree_start[forest.n_trees] > 4 * forest.n_subtrees;
  std::vector<char> used(forest.n_subtrees, most ? 1 : 0);
  if (most) return used;
  for (std::int64_t e = 0; e < forest.tree_start[forest.n_trees]; ++e) used[forest.tree_subtree[e]] = 1;
  return used;
}

}  // namespace espalier
