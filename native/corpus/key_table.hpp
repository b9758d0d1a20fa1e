// Gives equal numbers to equal sequences of integers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "corpus/hashing.hpp"
#include "jobs/listener.hpp"

namespace espalier {

class KeyTable {
 public:
  // With a listener that hears of every sequence.
  explicit KeyTable(Listener* listener = nullptr) : listener_(listener) {}

  std::int32_t number(const std::vector<std::int32_t>& key) {
    if (listener_) listener_->step(1);
    if (2 * start_.size() > slots_.size()) grow();
    const std::uint64_t hash = hash_of(key);
    const std::size_t slot = slot_of(key, hash);
    if (slots_[slot] >= 0) return slots_[slot];
    const auto id = static_cast<std::int32_t>(hashes_.size());
    slots_[slot] = id;
    hashes_.push_back(hash);
    pool_.insert(pool_.end(), key.begin(), key.end());
    start_.push_back(static_cast<std::int64_t>(pool_.size()));
    return id;
  }
  // The number of a sequence that was numbered before; -1 for any other.
  std::int32_t find(const std::vector<std::int32_t>& key) const {
    return slots_.empty() ? -1 : slots_[slot_of(key, hash_of(key))];
  }
  std::int64_t n_bytes() const {
    return 4 * static_cast<std::int64_t>(slots_.capacity() + pool_.capacity()) +
           8 * static_cast<std::int64_t>(start_.capacity() + hashes_.capacity());
  }
  std::int32_t size() const { return static_cast<std::int32_t>(hashes_.size()); }
  const std::vector<std::int64_t>& starts() const { return start_; }
  const std::vector<std::int32_t>& pool() const { return pool_; }

 private:
  std::uint64_t hash_of(const std::vector<std::int32_t>& key) const { return hasher_(0, key.data(), std::ssize(key)); }
  // Where the sequence stands, or the free slot where it would.
  std::size_t slot_of(const std::vector<std::int32_t>& key, std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t slot = hash & mask;
    for (; slots_[slot] >= 0; slot = (slot + 1) & mask) {
      const std::int32_t id = slots_[slot];
      if (hashes_[id] == hash && start_[id + 1] - start_[id] == static_cast<std::int64_t>(key.size()) &&
          std::equal(key.begin(), key.end(), pool_.begin() + start_[id])) {
        break;
      }
    }
    return slot;
  }
  void grow() {
    slots_.assign(slots_.empty() ? 2048 : 2 * slots_.size(), -1);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t id = 0; id < hashes_.size(); ++id) {
      std::size_t slot = hashes_[id] & mask;
      while (slots_[slot] >= 0) slot = (slot + 1) & mask;
      slots_[slot] = static_cast<std::int32_t>(id);
    }
  }
  Hasher hasher_;
  Listener* listener_;
  std::vector<std::int32_t> slots_, pool_;
  std::vector<std::int64_t> start_{0};
  std::vector<std::uint64_t> hashes_;
};

}  // namespace espalier
