// Runs of tags, each with or without its word: the kernel of Collins and Duffy (2001) over tagged sequences.
//
//   C(i, j) = decay[tag] * (1 + word_weight[tag] * (the words are equal)) * (1 + C(i + 1, j + 1))   where the tags are
// equal, and 0 elsewhere; the kernel is the sum of all C.
//
// Where a skipped position weighs more than 0, subsequences count. S(i, j) is the weight of those that end at i and j,
// R that of those that end at i and up to j, Q that of those that end up to both, each with the gap behind its end:
//
//   S(i, j) = decay[tag] * (1 + word_weight[tag] * (the words are equal)) * (1 + Q(i - 1, j - 1))   where tags are equal
//   R(i, j) = S(i, j) + gap[tag j] * R(i, j - 1),   Q(i, j) = R(i, j) + gap[tag i] * Q(i - 1, j)
//
// and the kernel is the sum of all S.
#pragma once

#include <cstdint>

#include "jobs/team.hpp"
#include "kernels/sequence_pairs.hpp"

namespace espalier {

// A corpus of tagged sequences as arrays owned by the caller.
struct TaggedView {
  SequencesView tags;
  const std::int32_t* word;  // at the same places
};

struct TaggingValues {
  const double *decay, *word_weight, *gap;  // by tag
  std::int64_t n_tags;
};

void tagging_values(const TaggedView& a, const TaggedView& b, Pairs pairs, const TaggingValues& values, Team& team,
                    double* out);
// The gradients by tag.
struct TaggingBars {
  double *decay, *word_weight, *gap;
};

// Adds the gradients of sum(cotangent * values); that of the gaps only where some gap weighs more than 0.
void tagging_pull_back(const TaggedView& a, const TaggedView& b, Pairs pairs, const TaggingValues& values,
                       const double* cotangent, Team& team, const TaggingBars& bars);

}  // namespace espalier
