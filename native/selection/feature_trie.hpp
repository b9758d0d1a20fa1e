// Features of a kernel space as a trie: a feature of order r + 1 is one of order r, and an atom at a place.
//
// Every space grows its features in one way only, so that a feature has one path. Its key is exact, not a hash: the
// number of its parent, the place where it grew, and the atom that was added. Nothing can collide, and the path back
// to the root tells what the feature is.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "parsing/feature_keys.hpp"
#include "parsing/weight_table.hpp"

namespace espalier {

inline constexpr int kAtomBits = 24, kPlaceBits = 6;
inline constexpr std::int64_t kMostAtoms = std::int64_t{1} << kAtomBits;
inline constexpr int kMostPlaces = 1 << kPlaceBits;
inline constexpr std::uint32_t kNoFeature = 0xFFFFFFFF;

// Of 62 bits, as counters want it.
constexpr std::uint64_t feature_key(std::uint32_t parent, std::uint32_t place, std::uint32_t atom) {
  return std::uint64_t{parent} << (kAtomBits + kPlaceBits) | std::uint64_t{place} << kAtomBits | atom;
}
constexpr std::uint32_t parent_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> (kAtomBits + kPlaceBits));
}
constexpr std::uint32_t place_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key >> kAtomBits) & (kMostPlaces - 1);
}
constexpr std::uint32_t atom_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(key) & static_cast<std::uint32_t>(kMostAtoms - 1);
}

class FeatureTrie {
 public:
  // The first nodes are roots: one for each class, or a single one.
  explicit FeatureTrie(std::uint32_t n_roots) : n_roots_(n_roots) {
    for (std::uint32_t root = 0; root < n_roots; ++root) key_.push_back(kRoot);
    resize(64);
  }

  std::uint32_t n_roots() const { return n_roots_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(key_.size()); }
  std::uint64_t key(std::uint32_t node) const { return key_[node]; }  // of no root
  std::span<const std::uint64_t> keys() const { return key_; }
  std::int64_t n_bytes() const {
    return static_cast<std::int64_t>(slots_.capacity() * sizeof(Slot) + (key_.capacity() + bits_.capacity()) * 8);
  }

  std::uint32_t find(std::uint64_t key) const {
    const std::uint64_t hash = hash_of(key);
    return may_have(hash) ? find(key, hash) : kNoFeature;
  }
  // In steps, for many keys at once: what is read first, whether a key may be there, and where it is.
  static std::uint64_t hash_of(std::uint64_t key) {
    key *= 0x9E3779B97F4A7C15ULL;
    key = (key ^ key >> 32) * 0xD6E8FEB86659FD93ULL;
    return key ^ key >> 29;
  }
  void prefetch_bits(std::uint64_t hash) const { __builtin_prefetch(&bits_[word_of(hash)]); }
  bool may_have(std::uint64_t hash) const { return (bits_[word_of(hash)] & marks_of(hash)) == marks_of(hash); }
  void prefetch_slot(std::uint64_t hash) const { __builtin_prefetch(&slots_[home_of(hash)]); }
  std::uint32_t find(std::uint64_t key, std::uint64_t hash) const {
    for (std::size_t slot = home_of(hash);; slot = after(slot)) {
      if (slots_[slot].key == key) return slots_[slot].node;
      if (slots_[slot].key == kFree) return kNoFeature;
    }
  }
  // Asks for what `find` reads first.
  void prefetch(std::uint64_t key) const { __builtin_prefetch(&bits_[word_of(hash_of(key))]); }

  // The number of a feature, a new one if it is not there yet. Its parent must be.
  std::uint32_t insert(std::uint64_t key) {
    if (key_.size() * 3 >= slots_.size() * 2) resize(slots_.size() * 2);
    std::size_t slot = home(key);
    for (; slots_[slot].key != kFree; slot = after(slot)) {
      if (slots_[slot].key == key) return slots_[slot].node;
    }
    slots_[slot] = {key, size()};
    note(hash_of(key));
    key_.push_back(key);
    return size() - 1;
  }
  // Makes room for as many features in all.
  void reserve(std::size_t n) {
    key_.reserve(n);
    if (n * 3 >= slots_.size() * 2) resize(n * 3 / 2 + 1);
  }

 private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0}, kRoot = kFree;
  static constexpr std::size_t kSlotsOfWord = 8;  // of which at most two thirds are taken
  struct Slot {
    std::uint64_t key;
    std::uint32_t node;
  };
  __extension__ using Wide = unsigned __int128;

  std::size_t home(std::uint64_t key) const { return home_of(hash_of(key)); }
  std::size_t home_of(std::uint64_t hash) const {
    return static_cast<std::size_t>(static_cast<Wide>(hash) * slots_.size() >> 64);
  }
  // Most keys that are looked up are not there. A few bits for each that is tell so, without a look at the slots.
  std::size_t word_of(std::uint64_t hash) const {
    return static_cast<std::size_t>(static_cast<Wide>(hash) * bits_.size() >> 64);
  }
  static std::uint64_t marks_of(std::uint64_t hash) {
    return std::uint64_t{1} << (hash & 63) | std::uint64_t{1} << (hash >> 6 & 63);
  }
  void note(std::uint64_t hash) { bits_[word_of(hash)] |= marks_of(hash); }
  std::size_t after(std::size_t slot) const { return slot + 1 == slots_.size() ? 0 : slot + 1; }
  void resize(std::size_t n_slots) {
    LargeVector<Slot>().swap(slots_);
    slots_.assign(n_slots, {kFree, kNoFeature});
    bits_.assign(n_slots / kSlotsOfWord + 1, 0);
    for (std::uint32_t node = n_roots_; node < size(); ++node) {
      std::size_t slot = home(key_[node]);
      while (slots_[slot].key != kFree) slot = after(slot);
      slots_[slot] = {key_[node], node};
      note(hash_of(key_[node]));
    }
  }

  std::uint32_t n_roots_;
  std::vector<std::uint64_t> key_;  // by node
  LargeVector<Slot> slots_;
  LargeVector<std::uint64_t> bits_;
};

}  // namespace espalier
