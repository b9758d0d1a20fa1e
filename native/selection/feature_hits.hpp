// The features of one example with the candidates that have them.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "selection/arc_unions.hpp"

namespace espalier {

struct FeatureHit {
  std::uint32_t node;
  Mask mask;
};

// Joins the hits of each feature: a candidate has it or not, however often it occurs. Features come in the order in which
// they were met first.
class PresentFeatures {
 public:
  void join(std::vector<FeatureHit>& hits) {
    const std::size_t n_slots = std::bit_ceil(2 * hits.size() + 1);
    if (slots_.size() < n_slots) slots_.assign(n_slots, kFree);
    const std::size_t last = n_slots - 1;
    std::size_t n = 0;
    used_.clear();
    for (const FeatureHit hit : hits) {
      std::size_t slot = hit.node * 0x9E3779B1U & last;
      while (slots_[slot] != kFree && hits[slots_[slot]].node != hit.node) slot = (slot + 1) & last;
      if (slots_[slot] == kFree) {
        used_.push_back(static_cast<std::uint32_t>(slot));
        slots_[slot] = static_cast<std::uint32_t>(n);
        hits[n++] = hit;
      } else {
        hits[slots_[slot]].mask |= hit.mask;
      }
    }
    for (const std::uint32_t slot : used_) slots_[slot] = kFree;
    hits.resize(n);
  }

 private:
  static constexpr std::uint32_t kFree = 0xFFFFFFFF;
  std::vector<std::uint32_t> slots_, used_;
};

// Adds a number to the values of all candidates of a mask.
inline void add_to(double* values, Mask mask, double number) {
  for (; mask; mask &= mask - 1) values[std::countr_zero(mask)] += number;
}

}  // namespace espalier
