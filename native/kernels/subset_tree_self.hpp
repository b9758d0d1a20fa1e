// The value of each tree with itself for subset trees and subtrees, without a plan: in one tree most nodes match only
// themselves, and a node's value with itself is the same in every tree.
#pragma once

#include <cstdint>

#include "corpus/forest_view.hpp"
#include "jobs/team.hpp"

namespace espalier {

struct SelfKernel {
  const double *decay, *frontier;  // by label
  double leaf;                     // what a shared leaf alone counts
  bool identity;                   // only identical subtrees match
};

// Fills out, one value per tree. Returns false, and leaves out unfinished, where the pairs of one tree would take more
// than `memory` bytes.
bool subset_self(const ForestView& forest, const SelfKernel& kernel, std::int64_t memory, Team& team, double* out);

}  // namespace espalier
