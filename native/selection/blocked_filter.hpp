// An upper bound of how often keys came, in a few bits for each: a spectral Bloom filter (Cohen and Matias 2003, as Qian
// and Liu 2015 use it, section 4.2) with counters of 2 bits, five hashes and minimum increase.
//
// In the papers a key has counters anywhere in the filter. Here its five counters are in one line of the cache, so that
// a key costs one miss and not five; in exchange, lines that happen to be full let more keys pass by mistake.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>

#include "parsing/feature_keys.hpp"
#include "parsing/weight_table.hpp"

namespace espalier {

class BlockedFilter {
 public:
  // A key passes when it comes for more than the threshold's time, at the latest. Memory is in bytes.
  BlockedFilter(std::int64_t memory, int threshold)
      : lines_(n_lines(memory, threshold)), threshold_(static_cast<unsigned>(threshold)) {}

  // True if the key passes: it may have come `threshold` times before. A key that came that often always passes.
  bool add(std::uint64_t key) {
    const std::uint64_t hash = features::salt(key);
    return threshold_ == 0 || add(lines_[line_of(hash)], hash);
  }
  // The same for many keys, in their order; passed(k) is called if keys[k] passes.
  template <class Passed>
  void add_batch(std::span<const std::uint64_t> keys, Passed&& passed) {
    std::array<std::uint64_t, kBatch> hashes;
    std::array<Line*, kBatch> lines;
    for (std::size_t first = 0; first < keys.size(); first += kBatch) {
      const std::size_t n = std::min(kBatch, keys.size() - first);
      for (std::size_t k = 0; k < n; ++k) {
        hashes[k] = features::salt(keys[first + k]);
        lines[k] = &lines_[line_of(hashes[k])];
        __builtin_prefetch(lines[k], 1);
      }
      for (std::size_t k = 0; k < n; ++k) {
        if (threshold_ == 0 || add(*lines[k], hashes[k])) passed(first + k);
      }
    }
  }
  // How often the key came, at most; not above the threshold.
  int count(std::uint64_t key) const {
    const std::uint64_t hash = features::salt(key);
    const Line& line = lines_[line_of(hash)];
    unsigned least = threshold_;
    for (int k = 0; k < kHashes; ++k) least = std::min(least, counter(line, place_of(hash, k)));
    return static_cast<int>(least);
  }
  std::int64_t n_bytes() const { return static_cast<std::int64_t>(lines_.size() * sizeof(Line)); }

 private:
  __extension__ using Wide = unsigned __int128;
  static constexpr std::size_t kBatch = 32;  // misses of the cache that overlap
  static constexpr int kHashes = 5, kCounterBits = 8, kWordBits = 5;
  struct alignas(64) Line {
    std::array<std::uint64_t, 8> words{};  // 32 counters each
  };

  static std::size_t n_lines(std::int64_t memory, int threshold) {
    if (memory < std::int64_t{sizeof(Line)}) throw std::invalid_argument("A filter needs at least 64 bytes.");
    if (threshold < 0 || threshold > 3) {
      throw std::invalid_argument("Counters of 2 bits need a threshold from 0 to 3, got " + std::to_string(threshold) +
                                  ".");
    }
    return static_cast<std::size_t>(memory) / sizeof(Line);
  }
  std::size_t line_of(std::uint64_t hash) const {
    return static_cast<std::size_t>(static_cast<Wide>(hash) * lines_.size() >> 64);
  }
  bool add(Line& line, std::uint64_t hash) const {
    std::array<unsigned, kHashes> place;
    unsigned least = threshold_;
    for (int k = 0; k < kHashes; ++k) {
      place[k] = place_of(hash, k);
      least = std::min(least, counter(line, place[k]));
    }
    if (least == threshold_) return true;
    for (int k = 0; k < kHashes; ++k) {
      // Read again: two hashes may have chosen the same counter, which is increased once.
      if (counter(line, place[k]) == least) line.words[place[k] >> kWordBits] += std::uint64_t{1} << shift_of(place[k]);
    }
    return false;
  }
  // The high bits of the hash chose the line; a product brings all others to where the counters are chosen.
  static unsigned place_of(std::uint64_t hash, int k) {
    const std::uint64_t places = hash * 0x9E3779B97F4A7C15ULL >> (64 - kHashes * kCounterBits);
    return static_cast<unsigned>(places >> (k * kCounterBits)) & 255;
  }
  static unsigned shift_of(unsigned place) { return 2 * (place & ((1U << kWordBits) - 1)); }
  static unsigned counter(const Line& line, unsigned place) {
    return static_cast<unsigned>(line.words[place >> kWordBits] >> shift_of(place)) & 3;
  }

  LargeVector<Line> lines_;
  unsigned threshold_;
};

}  // namespace espalier
