// The fragments of subset trees that weigh most in a kernel machine.
//
// A machine gives every tree a coefficient, so every distinct subtree u has a mass: the sum of the coefficients of
// the trees that hold it. A fragment f weighs
//
//   w(f) = sqrt(prod over expanded nodes of decay[label] * frontier[label]^(unexpanded inner children))
//          * sum of the masses of the subtrees that f is the top of.
//
// A fragment is written as decisions on its inner nodes, each before its children, from left to right: the number of
// the production that expands the node, or -1 where it stays unexpanded. Every fragment has one such code.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/forest_view.hpp"
#include "corpus/productions.hpp"
#include "jobs/team.hpp"
#include "spaces/branch_and_bound.hpp"
#include "spaces/mined.hpp"

namespace espalier {

// The feature map.
struct SubsetWeights {
  const double *decay, *frontier;   // by label
  int max_depth = 0, max_size = 0;  // edges to the deepest node, productions; 0 where there is no limit
};

struct SubsetSearch {
  const ForestView& forest;
  const Productions& productions;
  const double* mass;  // by subtree; what weighs 0 is no occurrence
  SubsetWeights weights;
  // By subtree, how often one tree holds it: a fragment then weighs what it adds to that tree's score, its weight in the
  // machine times its feature in the tree. Less how often another tree does, it is what the fragment adds to the first
  // score and not to the second. Null where fragments are weighed in the machine alone.
  const double* count = nullptr;
};

// Branch and bound: the n fragments of the largest weights, proven, unless the search gives up.
Mined mine_exact(const SubsetSearch& search, std::int64_t n, const MiningLimits& limits, MiningCounts& counts,
                 Team& team);

// Level by level: all ways to expand at most max_expansions open nodes of the best n so far, until none of them enters.
// For a team of one: its tasks share what they know.
Mined mine_greedy(const SubsetSearch& search, std::int64_t n, std::int64_t max_expansions, MiningCounts& counts,
                  Team& team);

}  // namespace espalier
