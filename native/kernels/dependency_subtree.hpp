// Sub-feature-trees of dependency trees (Qian and Liu, 2015): every arc is matched through one of its features.
//
// For tokens x and y that are children of heads, with m(x, y) the weight of the features that their arcs share,
//   E(x, y) = m(x, y) * (1 + D(x, y)),  R(x, y) = E(x, y) * (1 + R(left of x, left of y)),
//   D(u, v) = sum of R over the children of u and v,
// where *left of* is the neighbour among the children of one head; the kernel is the sum of all D. Where children need
// not be neighbours, the last R is a sum over all children to the left (dependency_subtree_gaps.hpp).
//
// Most arcs of two trees share nothing. What counts a subtree of neighbours therefore visits only pairs of arcs that
// share a feature: an index of some columns, by feature, tells where they are.
#pragma once

#include <cstdint>

#include "jobs/team.hpp"
#include "kernels/sequence_pairs.hpp"

namespace espalier {

// A corpus of dependency trees as arrays owned by the caller; tokens of a tree are numbered from 0.
struct ArcsView {
  std::int64_t n_trees;
  const std::int64_t *start, *feature_start;
  const std::int32_t *head, *previous, *order, *feature;

  std::int64_t size(std::int64_t tree) const { return start[tree + 1] - start[tree]; }
};

struct ArcValues {
  double decay;
  const double* weight;      // by template
  const std::int32_t* part;  // by feature: its template
  std::int64_t n_features, n_templates;
  bool contiguous;
  int max_arcs;  // of a subtree; 0 without a limit, and always where children need not be neighbours
};

void dependency_subtree_values(const ArcsView& a, const ArcsView& b, Pairs pairs, const ArcValues& values, Team& team,
                               double* out);
// Adds the gradients of sum(cotangent * values) to decay_bar (one number) and weight_bar (by template).
void dependency_subtree_pull_back(const ArcsView& a, const ArcsView& b, Pairs pairs, const ArcValues& values,
                                  const double* cotangent, Team& team, double* decay_bar, double* weight_bar);

}  // namespace espalier
