// Keys of features: 64 bits without pattern, the same on every machine, because models hold what they are made of.
#pragma once

#include <cstdint>

namespace espalier::features {

// A key for a number.
constexpr std::uint64_t salt(std::uint64_t number) {
  std::uint64_t out = (number + 1) * 0x9E3779B97F4A7C15ULL;
  out = (out ^ (out >> 30)) * 0xBF58476D1CE4E5B9ULL;
  out = (out ^ (out >> 27)) * 0x94D049BB133111EBULL;
  return out ^ (out >> 31);
}

// A key and a value after it; in the other order they are another key.
constexpr std::uint64_t joined(std::uint64_t key, std::uint64_t value) {
  key = (key * 0x9FB21C651E98DF25ULL ^ value) * 0xD6E8FEB86659FD93ULL;
  return key ^ (key >> 32);
}

}  // namespace espalier::features
