// Puts numbers in the order of small integer keys, in linear time.
#pragma once

#include <cstdint>
#include <vector>

namespace espalier {

// Stable counting sort of 0..key.size()-1: returns the items in key order, and where each key starts.
inline std::vector<std::int32_t> sort_by_key(const std::vector<std::int32_t>& key, std::int64_t n_keys,
                                             std::vector<std::int64_t>& start) {
  start.assign(n_keys + 1, 0);
  for (std::int32_t k : key) ++start[k + 1];
  for (std::int64_t k = 0; k < n_keys; ++k) start[k + 1] += start[k];
  std::vector<std::int64_t> at(start.begin(), start.end() - 1);
  std::vector<std::int32_t> order(key.size());
  for (std::size_t item = 0; item < key.size(); ++item) order[at[key[item]]++] = static_cast<std::int32_t>(item);
  return order;
}

}  // namespace espalier
