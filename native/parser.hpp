// Sentences to their best parses: chart, lazy search, and what to do where no parse covers a sentence.
#pragma once

#include <cstdint>
#include <vector>

#include "best_parses.hpp"
#include "chart.hpp"
#include "team.hpp"

namespace espalier {

struct Sentences {
  std::int64_t n_sentences;
  const std::int64_t* sentence_start;  // the first word of each
  const std::int64_t* word_start;      // the first tag of each word
  const std::int32_t* tag;
  const double* weight;
};

struct SentenceParses {
  std::vector<Parse> parses;
  bool complete = false;  // false where fragments were put side by side, because no parse covers the sentence
  bool widened = false;   // true where the beam had to be widened
  std::int64_t n_entries = 0;
};

// The best parses of every sentence, at most `most` of each. A beam that leaves no parse is doubled, twice at most.
std::vector<SentenceParses> parse_sentences(const GrammarView& grammar, const Sentences& sentences,
                                            const Pruning& pruning, std::int64_t most, Team& team);

}  // namespace espalier
