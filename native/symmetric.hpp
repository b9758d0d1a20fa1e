// Square matrices of which one half was computed, or whose two halves count together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "buffer.hpp"
#include "team.hpp"

namespace espalier {

// Visits (s, t), t <= s, in tiles that fit the cache; the rows of one tile row belong to one task.
template <class Visit>
void each_below(std::int64_t n, Team& team, const Visit& visit) {
  constexpr std::int64_t tile = 32;
  team.run((n + tile - 1) / tile, [&](std::int64_t row_tile, int) {
    for (std::int64_t column_tile = 0; column_tile <= row_tile; ++column_tile) {
      for (std::int64_t s = row_tile * tile; s < std::min(n, (row_tile + 1) * tile); ++s) {
        const std::int64_t end = std::min({n, (column_tile + 1) * tile, s + 1});
        for (std::int64_t t = column_tile * tile; t < end; ++t) visit(s, t);
      }
    }
  });
}

// out + out^T in place; a diagonal (one column) is doubled.
inline void add_transpose(std::int64_t n, std::int64_t width, Team& team, double* out) {
  if (width == 1) {
    for (std::int64_t s = 0; s < n; ++s) out[s] *= 2.0;
    return;
  }
  each_below(n, team, [&](std::int64_t s, std::int64_t t) {
    out[s * n + t] = out[t * n + s] = out[s * n + t] + out[t * n + s];
  });
}

// A symmetric matrix M and a factor with cotangent + cotangent^T = factor * M; no copy where it is symmetric already.
inline const double* symmetrized(std::int64_t n, std::int64_t width, const double* cotangent, Team& team,
                                 Buffer& buffer, double& factor) {
  factor = 2.0;
  if (width == 1) return cotangent;
  std::atomic<bool> same{true};
  each_below(n, team, [&](std::int64_t s, std::int64_t t) {
    if (cotangent[s * n + t] != cotangent[t * n + s]) same.store(false, std::memory_order_relaxed);
  });
  if (same) return cotangent;
  factor = 1.0;
  double* out = buffer.reserve(n * n);
  each_below(n, team, [&](std::int64_t s, std::int64_t t) {
    out[s * n + t] = out[t * n + s] = cotangent[s * n + t] + cotangent[t * n + s];
  });
  return out;
}

}  // namespace espalier
