// A linear classifier of many classes over sparse features: each feature has weights for the classes that it concerns.
//
// Features are 64-bit keys. A feature gets a row when it is first learned from, and a row an entry for a class when
// that class is; so a lookup finds nothing for most features, and little for the others.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "corpus/hashing.hpp"
#include "parsing/weight_table.hpp"

namespace espalier {

// Gives numbers to keys, in the order in which they come.
class KeyIndex {
 public:
  explicit KeyIndex(std::span<const std::uint64_t> keys = {}) {
    std::size_t size = 64;
    while (size < 2 * keys.size()) size *= 2;
    slots_.assign(size, Slot{});
    for (const std::uint64_t key : keys) number(key);
  }

  // The number of a key, or -1.
  std::int32_t find(std::uint64_t key) const { return slots_[slot(key)].number; }
  // The number of a key, a new one where it has none.
  std::int32_t number(std::uint64_t key) {
    Slot& found = slots_[slot(key)];
    if (found.number >= 0) return found.number;
    const auto own = static_cast<std::int32_t>(keys_.size());
    found = {key, own};
    keys_.push_back(key);
    if (2 * keys_.size() > slots_.size()) grow();
    return own;
  }
  const std::vector<std::uint64_t>& keys() const { return keys_; }

 private:
  // A key lies beside its number: most lookups read one line of the cache.
  struct Slot {
    std::uint64_t key = 0;
    std::int32_t number = -1;
  };
  std::size_t slot(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash_(key) & mask;
    while (slots_[at].number >= 0 && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    slots_.assign(2 * slots_.size(), Slot{});
    for (std::size_t k = 0; k < keys_.size(); ++k) slots_[slot(keys_[k])] = {keys_[k], static_cast<std::int32_t>(k)};
  }

  Hasher hash_;
  LargeVector<Slot> slots_;
  std::vector<std::uint64_t> keys_;
};

// What was learned, as arrays: row k has the key key[k] and the entries from start[k] to start[k + 1].
struct ClassifierArrays {
  std::vector<std::uint64_t> key;
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> of_class;
  std::vector<float> weight;
};

// A lookup reads two lines of the cache: where a key lies with the place of its entries, and these entries. Callers that
// know many keys beforehand announce them by expect().
class SparseClassifier {
 public:
  explicit SparseClassifier(const ClassifierArrays& arrays) {
    std::size_t size = 64;
    while (size < 2 * arrays.key.size()) size *= 2;
    slots_.assign(size, Slot{});
    for (std::size_t row = 0; row < arrays.key.size(); ++row) {
      slots_[slot(arrays.key[row])] = {arrays.key[row], arrays.start[row],
                                       static_cast<std::int32_t>(arrays.start[row + 1] - arrays.start[row])};
    }
    for (std::size_t k = 0; k < arrays.weight.size(); ++k) entries_.push_back({arrays.of_class[k], arrays.weight[k]});
  }

  void expect(std::uint64_t key) const { __builtin_prefetch(&slots_[hash_(key) & (slots_.size() - 1)]); }
  // Adds the weights of a feature to the scores of the classes.
  void add(std::uint64_t key, double* score) const {
    const Slot& found = slots_[slot(key)];
    const Entry* entry = entries_.data() + found.start;
    for (std::int32_t k = 0; k < found.n; ++k) score[entry[k].of_class] += entry[k].weight;
  }

 private:
  struct Slot {
    std::uint64_t key = 0;
    std::int64_t start = 0;
    std::int32_t n = 0;  // a free slot has none
  };
  struct Entry {
    std::int32_t of_class;
    float weight;
  };
  std::size_t slot(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash_(key) & mask;
    while (slots_[at].n > 0 && slots_[at].key != key) at = (at + 1) & mask;
    return at;
  }

  Hasher hash_;
  LargeVector<Slot> slots_;
  LargeVector<Entry> entries_;
};

// The same while it learns by mistakes; what it returns at the end is the average over all moments, of which next()
// begins each.
class LearningClassifier {
 public:
  void add(std::uint64_t key, double* score) const {
    const std::int32_t row = index_.find(key);
    if (row < 0) return;
    for (const Entry& entry : rows_[row]) score[entry.of_class] += entry.weight;
  }
  void next() { ++time_; }
  void move(std::uint64_t key, std::int32_t of_class, double by) {
    const std::int32_t row = index_.number(key);
    if (row == std::ssize(rows_)) rows_.emplace_back();
    auto& entries = rows_[row];
    auto own = std::find_if(entries.begin(), entries.end(), [&](const Entry& e) { return e.of_class == of_class; });
    if (own == entries.end()) own = entries.insert(own, {of_class, 0.0, 0.0});
    own->weight += by;
    own->moved += by * static_cast<double>(time_ - 1);
  }
  // Weights are multiples of 2^-14, so that sums are exact in any order; those that are 0 are left out.
  ClassifierArrays average() const {
    ClassifierArrays out;
    out.start.push_back(0);
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      for (const Entry& entry : rows_[row]) {
        const double mean = std::round((entry.weight - entry.moved / static_cast<double>(time_)) * 16384.0) / 16384.0;
        if (mean == 0.0) continue;
        out.of_class.push_back(entry.of_class);
        out.weight.push_back(static_cast<float>(mean));
      }
      const auto end = static_cast<std::int64_t>(out.weight.size());
      if (end == out.start.back()) continue;
      out.key.push_back(index_.keys()[row]);
      out.start.push_back(end);
    }
    return out;
  }

 private:
  struct Entry {
    std::int32_t of_class;
    double weight, moved;
  };
  KeyIndex index_;
  std::vector<std::vector<Entry>> rows_;
  std::int64_t time_ = 0;  // how many moments there were, with this one
};

}  // namespace espalier
