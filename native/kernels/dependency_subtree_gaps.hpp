// Sub-feature-trees whose children need not be neighbours: dense tables for each pair of trees.
#pragma once

#include "kernels/dependency_subtree.hpp"

namespace espalier {

// As the functions without gaps.
void dependency_subtree_gaps_values(const ArcsView& a, const ArcsView& b, Pairs pairs, const ArcValues& values,
                                    Team& team, double* out);
void dependency_subtree_gaps_pull_back(const ArcsView& a, const ArcsView& b, Pairs pairs, const ArcValues& values,
                                       const double* cotangent, Team& team, double* decay_bar, double* weight_bar);

}  // namespace espalier
