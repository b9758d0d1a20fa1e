// Which nodes of a tree push its score: every fragment's part of the score, shared equally by its productions.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/forest_view.hpp"
#include "corpus/productions.hpp"
#include "jobs/pace.hpp"
#include "spaces/subset_tree_mining.hpp"

namespace espalier {

// The shares of the nodes of the tree below `root`, each before its children; leaves have none. They add up to the sum
// over all pairs of its nodes and all subtrees of mass times Delta. `point` and `weight` integrate polynomials over (0, 1)
// whose degree is below the number of the tree's inner nodes.
std::vector<double> attribute_subset(const SubsetSearch& search, std::int32_t root, const std::vector<double>& point,
                                     const std::vector<double>& weight, Pace& pace);

}  // namespace espalier
