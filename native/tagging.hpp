// Runs of tags, each with or without its word: the kernel of Collins and Duffy (2001) over tagged sequences.
//
//   C(i, j) = decay[tag] * (1 + word_weight[tag] * (the words are equal)) * (1 + C(i + 1, j + 1))   where the tags are
// equal, and 0 elsewhere; the kernel is the sum of all C.
#pragma once

#include <cstdint>

#include "sequence_pairs.hpp"
#include "team.hpp"

namespace espalier {

// A corpus of tagged sequences as arrays owned by the caller.
struct TaggedView {
  SequencesView tags;
  const std::int32_t* word;  // at the same places
};

struct TaggingValues {
  const double *decay, *word_weight;  // by tag
  std::int64_t n_tags;
};

void tagging_values(const TaggedView& a, const TaggedView& b, Pairs pairs, const TaggingValues& values, Team& team,
                    double* out);
// Adds the gradients of sum(cotangent * values) to decay_bar and word_bar, by tag.
void tagging_pull_back(const TaggedView& a, const TaggedView& b, Pairs pairs, const TaggingValues& values,
                       const double* cotangent, Team& team, double* decay_bar, double* word_bar);

}  // namespace espalier
