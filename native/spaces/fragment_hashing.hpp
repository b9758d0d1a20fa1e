// All small fragments of subset trees, by hashes of what they look like: features without a dictionary.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/forest_view.hpp"
#include "jobs/team.hpp"
#include "spaces/subset_tree_mining.hpp"

namespace espalier {

// By subtree, the fragments that are rooted there: their hashes, and the square roots of their weights.
struct HashedFragments {
  std::vector<std::int64_t> start;
  std::vector<std::uint64_t> hash;
  std::vector<double> value;
};

// Needs a limit on size; label_hash is by label, the same for the same spelling in every corpus.
HashedFragments hash_fragments(const ForestView& forest, const std::uint64_t* label_hash, const SubsetWeights& weights,
                               Team& team);

}  // namespace espalier
