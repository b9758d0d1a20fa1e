// Whether arrays are a forest: everything that the rest of the core relies on without looking.
#pragma once

#include <cstdint>
#include <span>

namespace espalier {

struct ForestParts {
  std::span<const std::int32_t> label, height, child, root, tree_subtree, tree_count;
  std::span<const std::int64_t> child_start, tree_start;
};

// What is wrong with the arrays, or nullptr. Time is linear in their size but for one sort of the subtrees.
const char* forest_fault(const ForestParts& forest, std::int64_t n_labels);

}  // namespace espalier
