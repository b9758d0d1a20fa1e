// Square matrices of which one half was computed, or whose two halves count together.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "jobs/team.hpp"
#include "kernels/buffer.hpp"

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

// Writes zeros, each large page by one thread: fresh memory is slow where two touch a page for the first time at once.
inline void clear(double* out, std::int64_t n, Team& team) {
  constexpr std::int64_t page = (std::int64_t{1} << 21) / sizeof(double);
  const auto before = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(out) / sizeof(double)) % page;
  team.run((before + n + page - 1) / page, [&](std::int64_t task, int) {
    std::fill(out + std::max<std::int64_t>(0, task * page - before), out + std::min(n, (task + 1) * page - before),
              0.0);
  });
}

// Completes a matrix of which, where it is symmetric, each pair was added on one side only: out + out^T in place, a
// diagonal (one column) doubled. Returns whether every value is finite.
inline bool complete(std::int64_t n, std::int64_t width, bool symmetric, Team& team, double* out) {
  std::atomic<bool> finite{true};
  const auto check = [&](double value) {
    if (value - value != 0.0) finite.store(false, std::memory_order_relaxed);
  };
  if (symmetric && width == n && n > 1) {
    each_below(n, team, [&](std::int64_t s, std::int64_t t) {
      const double sum = out[s * n + t] + out[t * n + s];
      out[s * n + t] = out[t * n + s] = sum;
      check(sum);
    });
    return finite;
  }
  constexpr std::int64_t part = 1 << 16;
  const std::int64_t size = n * width;
  team.run((size + part - 1) / part, [&](std::int64_t task, int) {
    for (std::int64_t k = task * part; k < std::min(size, (task + 1) * part); ++k) {
      if (symmetric) out[k] *= 2.0;
      check(out[k]);
    }
  });
  return finite;
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
  double* out = buffer.reserve(n * n, team);
  each_below(n, team, [&](std::int64_t s, std::int64_t t) {
    out[s * n + t] = out[t * n + s] = cotangent[s * n + t] + cotangent[t * n + s];
  });
  return out;
}

}  // namespace espalier
