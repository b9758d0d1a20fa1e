// Sentences to their best parses: chart, lazy search, and what to do where no parse covers a sentence.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "jobs/team.hpp"
#include "parsing/best_parses.hpp"
#include "parsing/chart.hpp"

namespace espalier {

struct Sentences {
  std::int64_t n_sentences;
  const std::int64_t* sentence_start;  // the first word of each
  const std::int64_t* word_start;      // the first tag of each word
  const std::int32_t* tag;
  const double* weight;

  WordsView words(std::int64_t s) const {
    return {sentence_start[s + 1] - sentence_start[s], word_start + sentence_start[s], tag, weight};
  }
};

// A grammar with fewer symbols that says in advance what may stand where.
struct CoarseGrammar {
  GrammarView grammar;
  const std::int32_t* symbol;  // what each symbol of the other grammar is here
};

// How parses are looked for.
struct Search {
  double beam = std::numeric_limits<double>::infinity();
  const double* prior = nullptr;  // by symbol, for the beam
  double margin = std::numeric_limits<double>::infinity();
  const CoarseGrammar* coarse = nullptr;                           // used where the margin is finite
  std::int64_t memory = std::numeric_limits<std::int64_t>::max();  // of one sentence
  std::int64_t most = 1;
};

struct SentenceParses {
  std::vector<Parse> parses;
  bool complete = false;   // false where fragments were put side by side, because no parse covers the sentence
  bool exact = true;       // false where something was left out
  bool narrowed = false;   // whether that was for want of memory
  std::int64_t bytes = 0;  // at most at one time
};

// The best parses of every sentence. A beam and a margin that leave no parse are doubled, twice at most. What does not
// fit into memory is left to ever narrower beams, and last to the best tag of each word.
std::vector<SentenceParses> parse_sentences(const GrammarView& grammar, const Sentences& sentences,
                                            const Search& search, Team& team);

}  // namespace espalier
