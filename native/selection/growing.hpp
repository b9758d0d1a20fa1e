// What all spaces of features share: candidates as bits of a mask, and which features of a trie may grow.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "selection/feature_trie.hpp"

namespace espalier {

using Mask = std::uint64_t;  // which candidates of a group have something
inline constexpr int kMostCandidates = 64;
inline constexpr int kMostOrder = 8;

inline Mask all_of(int n_candidates) {
  return n_candidates >= kMostCandidates ? ~Mask{0} : (Mask{1} << n_candidates) - 1;
}

// By feature: whether it may grow. A fresh one may grow for the first time; what grows from it is fresh, too.
inline constexpr std::uint8_t kClosed = 0, kOpen = 1, kFresh = 2;

struct Growing {
  const FeatureTrie* trie;
  std::int64_t n_atoms;
  const std::uint32_t* first;  // by root and atom: its feature of order 1 if that may grow, or else kNoFeature
  const std::uint8_t* open;    // by feature

  std::uint32_t first_of(std::uint32_t root, std::uint32_t atom) const {
    return first[static_cast<std::int64_t>(root) * n_atoms + atom];
  }
  bool is_fresh(std::uint32_t feature) const { return open[feature] == kFresh; }
};

// Which features of an order to tell: all whose parts may grow, or those of them that have a fresh part.
enum class Told : std::uint8_t { kAll, kFreshOnly };

// A set of small numbers that is quickly emptied.
class Marks {
 public:
  void make_room(std::int64_t n) { words_.resize(static_cast<std::size_t>(n + 63) / 64, 0); }
  void set(std::uint32_t number) {
    std::uint64_t& word = words_[number / 64];
    if (word == 0) touched_.push_back(number / 64);
    word |= std::uint64_t{1} << (number % 64);
  }
  bool has(std::uint32_t number) const { return (words_[number / 64] >> (number % 64) & 1) != 0; }
  void clear() {
    for (const std::uint32_t word : touched_) words_[word] = 0;
    touched_.clear();
  }

 private:
  std::vector<std::uint64_t> words_;
  std::vector<std::uint32_t> touched_;
};

}  // namespace espalier
