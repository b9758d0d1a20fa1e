// What all spaces of features share: candidates as bits of a mask, and which features of a trie may grow.
#pragma once

#include <cstdint>

#include "selection/feature_trie.hpp"

namespace espalier {

using Mask = std::uint64_t;  // which candidates of a group have something
inline constexpr int kMostCandidates = 64;
inline constexpr int kMostOrder = 8;

inline Mask all_of(int n_candidates) {
  return n_candidates >= kMostCandidates ? ~Mask{0} : (Mask{1} << n_candidates) - 1;
}

struct Growing {
  const FeatureTrie* trie;
  std::int64_t n_atoms;
  const std::uint32_t* first;  // by root and atom: its feature of order 1 if that may grow, or else kNoFeature
  const std::uint8_t* open;    // by feature: whether it may grow

  std::uint32_t first_of(std::uint32_t root, std::uint32_t atom) const {
    return first[static_cast<std::int64_t>(root) * n_atoms + atom];
  }
};

}  // namespace espalier
