// Sums in an order that depends on nothing but their length.
#pragma once

#include <cstdint>

namespace espalier {

// bar *= delta; returns the sum of the products.
inline double multiply_and_sum(double* bar, const double* delta, std::int64_t n) {
  double sum[4] = {0.0, 0.0, 0.0, 0.0};
  std::int64_t v = 0;
  for (; v + 4 <= n; v += 4) {
    for (int lane = 0; lane < 4; ++lane) {
      bar[v + lane] *= delta[v + lane];
      sum[lane] += bar[v + lane];
    }
  }
  for (; v < n; ++v) {
    bar[v] *= delta[v];
    sum[0] += bar[v];
  }
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

inline double dot(const double* x, const double* y, std::int64_t n) {
  double sum[4] = {0.0, 0.0, 0.0, 0.0};
  std::int64_t v = 0;
  for (; v + 4 <= n; v += 4) {
    for (int lane = 0; lane < 4; ++lane) sum[lane] += x[v + lane] * y[v + lane];
  }
  for (; v < n; ++v) sum[0] += x[v] * y[v];
  return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

inline double sum(const double* x, std::int64_t n) {
  double lanes[4] = {0.0, 0.0, 0.0, 0.0};
  std::int64_t v = 0;
  for (; v + 4 <= n; v += 4) {
    for (int lane = 0; lane < 4; ++lane) lanes[lane] += x[v + lane];
  }
  for (; v < n; ++v) lanes[0] += x[v];
  return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
}

}  // namespace espalier
