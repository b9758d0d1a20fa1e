// A tagger that goes from left to right with a beam of the best taggings so far, and learns by an averaged perceptron.
//
// The score of a tag depends on the words around it, on their beginnings, endings and shapes, and on the two tags before
// it. Learning moves the weights at the word where the best tagging so far beats the gold one by most (the largest
// violation; Huang, Fayong and Guo 2012).
#pragma once

#include <cstdint>
#include <vector>

#include "jobs/team.hpp"
#include "parsing/sparse_classifier.hpp"
#include "parsing/tagger.hpp"

namespace espalier {

// What is known of a word by itself, as keys; 0 where it does not apply.
enum Attribute : std::int32_t {
  kForm,
  kLower,
  kWordShape,
  kClass,     // which kinds of characters it has
  kSuffixes,  // of 1 to 4 characters
  kPrefixes = kSuffixes + 4,
  kAttributes = kPrefixes + 4
};

struct TaggerView {
  std::int64_t n_sentences;
  const std::int64_t* start;       // of each sentence among the tokens, and the end
  const std::int32_t* word;        // of each token
  const std::uint64_t* attribute;  // of each word, kAttributes keys
  const std::int32_t* tag;         // of each token; null where tags are unknown
};

struct TaggerTraining {
  std::int32_t n_tags;
  int epochs;
  std::int32_t width;
  std::uint64_t seed;
};

ClassifierArrays train_tagger(const TaggerView& sentences, const TaggerTraining& settings, Team& team);

// The best taggings of each sentence in a beam of `width`, at most `most`, the best first.
std::vector<std::vector<TagSequence>> tag_by_beam(const SparseClassifier& model, const TaggerView& sentences,
                                                  std::int32_t n_tags, std::int32_t width, std::int64_t most,
                                                  Team& team);

}  // namespace espalier
