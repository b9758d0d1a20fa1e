// Items whose atoms are one to a position: sets, sequences, and trees by their productions.
//
// A position has a slot, and a feature takes atoms of growing slots. In a set every atom has its own slot; in a sequence
// slots are the places of tokens, which may have several atoms; the productions below one node have the number of the
// child as slot. Candidates of one group share positions, and a mask of bits tells which candidates have one.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "selection/growing.hpp"

namespace espalier {

enum class SlotKind : std::uint8_t { kSets, kSequences, kProductions };

// One item, or one group of candidates.
struct SlotGraph {
  SlotKind kind;
  std::int32_t gap;  // of sequences: how many tokens may be skipped between the first and the last
  std::int32_t n, n_starts, n_candidates;
  Mask all;
  std::span<const std::int32_t> slot;   // by position, not decreasing among siblings
  std::span<const std::uint32_t> atom;  // by position; kNoFeature is an atom that nothing has learned of
  std::span<const Mask> mask;           // by position; empty if there is a single candidate
  // Of productions, by position: the range of those below it, the end of its siblings, and the atom that the production
  // above it has as the top of a fragment. The first n_starts positions are tops, and the others are below.
  std::span<const std::int32_t> first_child, last_child, last_sibling;
  std::span<const std::uint32_t> above;

  Mask mask_of(std::int32_t position) const { return mask.empty() ? Mask{1} : mask[position]; }
  std::int32_t end_of_siblings(std::int32_t position) const {
    return last_sibling.empty() ? n : last_sibling[position];
  }
};

struct SlotArrays {
  std::vector<std::int64_t> start;                   // of the positions of each item
  std::vector<std::int32_t> n_starts, n_candidates;  // by item
  std::vector<std::int32_t> slot;
  std::vector<std::uint32_t> atom;
  std::vector<Mask> mask;
  std::vector<std::int32_t> first_child, last_child, last_sibling;
  std::vector<std::uint32_t> above;
};

class SlotGrowth;

class SlotGraphs {
 public:
  using Growth = SlotGrowth;  // what grows in it

  SlotGraphs(SlotKind kind, std::int32_t gap, SlotArrays arrays) : kind_(kind), gap_(gap), own_(std::move(arrays)) {}

  std::int64_t size() const { return std::ssize(own_.start) - 1; }
  SlotGraph operator[](std::int64_t item) const;
  std::int64_t n_bytes() const;

 private:
  SlotKind kind_;
  std::int32_t gap_;
  SlotArrays own_;
};

}  // namespace espalier
