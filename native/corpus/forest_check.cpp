#include "corpus/forest_check.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace espalier {

namespace {

template <class T>
bool within(std::span<const T> values, std::int64_t low, std::int64_t high) {
  return std::all_of(values.begin(), values.end(), [&](T value) { return value >= low && value < high; });
}

// Where ranges start: from 0 to the end of what they cut, never back. Compared, because differences wrap around.
bool cuts(std::span<const std::int64_t> start, std::size_t n_ranges, std::size_t size) {
  return start.size() == n_ranges + 1 && start.front() == 0 && std::is_sorted(start.begin(), start.end()) &&
         start.back() == static_cast<std::int64_t>(size);
}

std::span<const std::int32_t> children(const ForestParts& forest, std::int64_t u) {
  return forest.child.subspan(forest.child_start[u], forest.child_start[u + 1] - forest.child_start[u]);
}

const char* subtrees_fault(const ForestParts& forest) {
  for (std::size_t u = 0; u < forest.label.size(); ++u) {
    std::int32_t tallest = -1;
    for (const std::int32_t v : children(forest, u)) {
      if (v < 0 || v >= static_cast<std::int64_t>(u)) return "a child does not precede its parent";
      tallest = std::max(tallest, forest.height[v]);
    }
    if (forest.height[u] != tallest + 1) return "heights do not fit the children";
  }
  return nullptr;
}

bool has_equal_subtrees(const ForestParts& forest) {
  std::vector<std::int32_t> order(forest.label.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int32_t u, std::int32_t v) {
    if (forest.label[u] != forest.label[v]) return forest.label[u] < forest.label[v];
    const auto a = children(forest, u), b = children(forest, v);
    return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
  });
  const auto same = [&](std::int32_t u, std::int32_t v) {
    return forest.label[u] == forest.label[v] && std::ranges::equal(children(forest, u), children(forest, v));
  };
  return std::adjacent_find(order.begin(), order.end(), same) != order.end();
}

// Each tree lists exactly what its root reaches, ascending, as often as it occurs. Counts flow from the root down:
// children have smaller numbers, so that a subtree's own count is complete when it is reached from the end.
const char* trees_fault(const ForestParts& forest) {
  constexpr std::int64_t most = std::int64_t{1} << 31;  // one more than a count can be
  std::vector<std::int64_t> count(forest.label.size(), 0);
  for (std::size_t t = 0; t < forest.root.size(); ++t) {
    const std::int64_t first = forest.tree_start[t], last = forest.tree_start[t + 1];
    const std::int32_t root = forest.root[t];
    if ((root < 0) != (first == last)) return "a root is missing from its tree";
    if (root < 0) continue;
    for (std::int64_t k = first + 1; k < last; ++k) {
      if (forest.tree_subtree[k] <= forest.tree_subtree[k - 1]) return "a tree's subtrees are out of order";
    }
    if (forest.tree_subtree[last - 1] != root) return "a root is not the last subtree of its tree";
    count[root] = 1;
    std::int64_t n_reached = 1;
    for (std::int64_t k = last - 1; k >= first; --k) {
      const std::int32_t u = forest.tree_subtree[k];
      const std::int64_t own = count[u];
      if (own == 0) return "a tree lists a subtree that its root does not reach";
      if (own != forest.tree_count[k]) return "a tree counts a subtree otherwise than it occurs";
      for (const std::int32_t v : children(forest, u)) {
        n_reached += count[v] == 0;
        count[v] = std::min(count[v] + own, most);
      }
      count[u] = 0;
    }
    if (n_reached != last - first) return "a child is missing from its tree";
  }
  return nullptr;
}

}  // namespace

const char* forest_fault(const ForestParts& forest, std::int64_t n_labels) {
  const std::size_t n = forest.label.size();
  if (!cuts(forest.child_start, n, forest.child.size())) return "'child_start' does not cut 'child' into parts";
  if (!cuts(forest.tree_start, forest.root.size(), forest.tree_subtree.size())) {
    return "'tree_start' does not cut 'tree_subtree' into parts";
  }
  if (forest.height.size() != n || forest.tree_count.size() != forest.tree_subtree.size()) return "lengths differ";
  const auto n_subtrees = static_cast<std::int64_t>(n);
  if (!within(forest.label, 0, n_labels)) return "a label number is out of range";
  if (!within(forest.root, -1, n_subtrees)) return "a root is out of range";
  if (!within(forest.tree_subtree, 0, n_subtrees)) return "a subtree number is out of range";
  if (const char* fault = subtrees_fault(forest)) return fault;
  if (has_equal_subtrees(forest)) return "a subtree is listed twice";
  return trees_fault(forest);
}

}  // namespace espalier
