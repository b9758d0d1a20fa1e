// Gap-weighted subsequences of two sequences of symbols, up to a length; values and reverse mode.
//
// For a pair only the positions count whose symbol the other side has too: the others are folded into the weight of
// the gap between their neighbours. On this grid of matched rows and columns,
//   S1 = M,  Sp(a, b) = M(a, b) * gap before a * gap before b * Q(p-1)(a - 1, b - 1),
//   Qp(a, b) = Sp(a, b) + A(a) Qp(a - 1, b) + B(b) Qp(a, b - 1) - A(a) B(b) Qp(a - 1, b - 1),
// where A(a) is the weight of skipping row a and the gap before it. The kernel is the sum of weight[p] * sum(Sp).
// M is the product of both positions' match weights; with soft matching, times how similar their symbols are.
#pragma once

#include <cstdint>

#include "jobs/team.hpp"
#include "kernels/sequence_pairs.hpp"

namespace espalier {

// How similar symbols are: mix * [x == y] + (1 - mix) * value[row[x], y]. Only symbols of row sequences need a row.
struct SoftMatching {
  const double* value = nullptr;  // null where only equal symbols match
  const std::int32_t* row = nullptr;
  std::int64_t width = 0;
  double mix = 0.0;

  const double* values_of(std::int32_t x) const { return value + row[x] * width; }
  double blend(bool equal, double similarity) const { return (equal ? mix : 0.0) + (1.0 - mix) * similarity; }
};

struct SubsequenceValues {
  const double *gap, *match;  // by symbol: what a skipped position weighs, and a matched one on either side
  const double* order;        // by length, from 1
  std::int64_t length, n_symbols;
  SoftMatching soft;
};

// Where gradients are added: by symbol, by symbol, by length, and one number.
struct SubsequenceBars {
  double *gap, *match, *order, *mix;
};

// Fills out: a matrix of a with b, of a with itself, or one value for each sequence of a.
void subsequence_values(const SequencesView& a, const SequencesView& b, Pairs pairs, const SubsequenceValues& values,
                        Team& team, double* out);

// Adds the gradients of sum(cotangent * values).
void subsequence_pull_back(const SequencesView& a, const SequencesView& b, Pairs pairs, const SubsequenceValues& values,
                           const double* cotangent, Team& team, const SubsequenceBars& bars);

}  // namespace espalier
