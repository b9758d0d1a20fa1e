// The best tag sequences of a sentence under a second-order hidden Markov model, exactly.
//
// A sequence weighs the sum of what its words weigh below their tags and of what each tag weighs after the two before
// it, with two starts before the first and an end after the last. What the rest of a sentence can weigh at best is
// found from right to left,
//   V(i; a, b) = word(i, b) + max over c of (next(a, b, c) + V(i + 1; b, c)),
// so that each step of a sequence has a known loss: how far its tag stays behind the best one at that place. Losses are
// never negative and add up. A sequence that was found leads to those that follow it up to some place, take another tag
// there and go on at best: its own loss and that of the one step tell theirs, before they are written down. Sequences of
// equal weight stand in the order of their tags, as these are listed for each word, the first that differs deciding.
// Weights must be such that their sums are exact in any order.
#pragma once

#include <cstdint>
#include <vector>

#include "jobs/team.hpp"
#include "parsing/parser.hpp"

namespace espalier {

// The weight of tag c after a and b stands at (a * (n_tags + 1) + b) * (n_tags + 1) + c. The number n_tags is the start
// as a or b, and the end as c.
struct TrigramView {
  std::int32_t n_tags;
  const double* weight;
  const double* after(std::int32_t a, std::int32_t b) const {
    const std::int64_t n = n_tags + 1;
    return weight + (a * n + b) * n;
  }
};

struct TagSequence {
  double weight;
  std::vector<std::int32_t> tag;
};

// The best sequences of every sentence, at most `most` of each, the best first; none where no sequence is possible.
std::vector<std::vector<TagSequence>> tag_sentences(const TrigramView& trigrams, const Sentences& sentences,
                                                    std::int64_t most, Team& team);

}  // namespace espalier
