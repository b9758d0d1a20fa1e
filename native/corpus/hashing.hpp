// Hashes that nobody outside the process can foresee: who writes a file cannot fill one place of a table with it.
//
// Tables keep what they hold in the order in which it came, so that no result depends on the seed. Hashes that are
// results themselves are made elsewhere (spaces/fragment_hashing.cpp), without a seed.
#pragma once

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <random>
#include <string_view>

namespace espalier {

inline std::uint64_t random_seed() {
  try {
    std::random_device device;
    return static_cast<std::uint64_t>(device()) << 32 ^ device();
  } catch (const std::exception&) {
    // A system without a source of chance: the clock and where the system put this process are better than nothing.
    const auto now = static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
    return now ^ std::bit_cast<std::uintptr_t>(&now);
  }
}

// The seed of tables that are made from now on; it is drawn once in a process, and tests set it.
inline std::atomic<std::uint64_t>& hash_seed() {
  static std::atomic<std::uint64_t> seed{random_seed()};
  return seed;
}

class Hasher {
 public:
  Hasher() : Hasher(hash_seed().load(std::memory_order_relaxed)) {}
  explicit Hasher(std::uint64_t seed) : first_(drawn(seed)), second_(drawn(seed) | 1), third_(drawn(seed) | 1) {}

  std::uint64_t operator()(std::uint64_t key) const { return folded(folded(key ^ first_, second_), third_); }

  std::uint64_t operator()(std::string_view text) const {
    const char* at = text.data();
    std::size_t left = text.size();
    std::uint64_t hash = first_ ^ left;
    for (; left > 8; at += 8, left -= 8) hash = folded(hash ^ word_at(at, 8), second_);
    return folded(folded(hash ^ word_at(at, left), second_), third_);
  }

  // A number, then a sequence of them.
  std::uint64_t operator()(std::int32_t head, const std::int32_t* key, std::int64_t n) const {
    std::uint64_t hash = folded(first_ ^ joined(head, static_cast<std::int32_t>(n)), second_);
    std::int64_t k = 0;
    for (; k + 1 < n; k += 2) hash = folded(hash ^ joined(key[k], key[k + 1]), second_);
    if (k < n) hash = folded(hash ^ joined(key[k], 0), second_);
    return folded(hash, third_);
  }

 private:
  __extension__ using Wide = unsigned __int128;

  // Both halves of a product: every bit of the result hangs on every bit of what is hashed.
  static std::uint64_t folded(std::uint64_t a, std::uint64_t b) {
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  static std::uint64_t joined(std::int32_t a, std::int32_t b) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 | static_cast<std::uint32_t>(b);
  }
  // Up to 8 bytes; of equally many, different ones give different words.
  static std::uint64_t word_at(const char* at, std::size_t n) {
    if (n >= 4) {
      std::uint32_t low, high;  // they overlap where there are fewer than 8
      std::memcpy(&low, at, 4);
      std::memcpy(&high, at + n - 4, 4);
      return static_cast<std::uint64_t>(high) << 32 | low;
    }
    const auto byte = [at](std::size_t k) { return static_cast<std::uint64_t>(static_cast<unsigned char>(at[k])); };
    return n == 0 ? 0 : byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
  }
  // The next number of splitmix64.
  static std::uint64_t drawn(std::uint64_t& seed) {
    std::uint64_t out = seed += 0x9E3779B97F4A7C15ULL;
    out = (out ^ (out >> 30)) * 0xBF58476D1CE4E5B9ULL;
    out = (out ^ (out >> 27)) * 0x94D049BB133111EBULL;
    return out ^ (out >> 31);
  }

  std::uint64_t first_, second_, third_;
};

}  // namespace espalier
