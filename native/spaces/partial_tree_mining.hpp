// The fragments of partial trees that weigh most in a kernel machine, and what fragments weigh in trees.
//
// A fragment is a connected piece of a tree; a node may keep some of its children and leave others out. In one tree it
// may stand in many ways: each weighs
//
//   sqrt(depth_decay) for every node, decay for every node that keeps no child, decay for every child that is skipped
//   between two that are kept.
//
// A leaf and an inner node with one label begin the same fragments: that of one node, which a leaf weighs by the values
// of leaves. A fragment is written as its nodes, each before its children, from left to right: the depth of the node
// below the root, then its label. It grows at its right edge only, so every fragment is met once.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/forest_view.hpp"
#include "jobs/team.hpp"
#include "spaces/branch_and_bound.hpp"
#include "spaces/mined.hpp"

namespace espalier {

struct PartialWeights {
  const double *decay, *depth_decay;    // by label
  double leaf_decay, leaf_depth_decay;  // of all leaves
};

struct PartialSearch {
  const ForestView& forest;
  const double* mass;  // by subtree; what weighs 0 is no occurrence
  PartialWeights weights;
  std::int32_t max_size;  // nodes of a fragment
  // By subtree, how often one tree holds it: a fragment then weighs what it adds to that tree's score, its weight in the
  // machine times its feature in the tree. Less how often another tree does, it is what the fragment adds to the first
  // score and not to the second. Null where fragments are weighed in the machine alone.
  const double* count = nullptr;
};

// Branch and bound; as mine_exact for subset trees.
Mined mine_partial(const PartialSearch& search, std::int64_t n, const MiningLimits& limits, MiningCounts& counts,
                   Team& team);

struct PartialCodes {
  std::int64_t n_fragments;
  const std::int64_t* start;
  const std::int32_t* code;
};

// By subtree, the fragments that are rooted there and their weights: compressed rows.
struct PartialMatches {
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> fragment;
  std::vector<double> weight;
};

// label_of maps the forest's labels to those of the fragments; -1 where these have none. Weights are by the forest's
// labels.
PartialMatches match_partial(const PartialCodes& fragments, const ForestView& forest, const std::int32_t* label_of,
                             const PartialWeights& weights, Team& team);

}  // namespace espalier
