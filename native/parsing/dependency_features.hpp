// The features of a dependency tree, by its parts: an arc, two adjacent siblings, a grandparent, a grandparent with two
// siblings.
//
// A feature is a template filled with the words and tags of the tokens of a part. Its key is the sum of one partial key
// for each of these tokens, by the role that the token plays, so a sentence computes partial keys once for each token
// and a part costs an addition and a multiplication for each template. A feature with a distance has the key of the feature
// without it, and the distance as its slot.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "parsing/feature_keys.hpp"

namespace espalier {

// What is known of a token, as numbers; the root is the first token of a sentence.
struct Token {
  std::int32_t word, tag, coarse;
  std::int32_t suffix, prefix, ending;  // the last three, the first three and the last two characters, in lower case
  std::int32_t shape;                   // kinds of characters, such as capitals and digits, in order
};

// The sentences of a treebank one after another, each with its root; token 0 of a sentence is the root.
struct DependencyView {
  std::int64_t n_sentences;
  const std::int64_t* start;  // of each sentence among the tokens, and the end
  const Token* token;
  const std::int32_t* head;  // of each token, by number in its sentence; null where heads are unknown

  std::int32_t n_words(std::int64_t s) const { return static_cast<std::int32_t>(start[s + 1] - start[s]) - 1; }
  const Token* tokens(std::int64_t s) const { return token + start[s]; }
  const std::int32_t* heads(std::int64_t s) const { return head + start[s]; }
};

// What of a token takes part in a template.
enum Piece : std::uint8_t {
  kNothing,
  kWord,
  kTag,
  kWordTag,
  kCoarse,
  kBoth,  // tag and coarse tag
  kSuffix,
  kEnding,
  kPrefix,
  kShape,
  kTagBefore,  // the tag of the token and that of the token before it
  kTagAfter,
  kTagAround,
  kTwoBefore,  // the tag of the token and those of the two tokens before it
  kTwoAfter,
  kCoarseBefore,
  kCoarseAfter,
  kCoarseAround,
  kWordBefore,  // the tag of the token and the word before it
  kWordAfter,
  kWordAround,  // the word and the coarse tags on both sides
  kPieces
};

enum Role : std::uint8_t { kHead, kModifier, kSibling, kGrandparent, kRoles };

// Distances in bins, from 1 to 10: a slot of a feature.
inline std::uint64_t distance_bin(std::int32_t a, std::int32_t b) {
  const std::int32_t d = std::abs(a - b);
  return d <= 5 ? static_cast<std::uint64_t>(d) : d <= 7 ? 6 : d <= 10 ? 7 : d <= 15 ? 8 : d <= 25 ? 9 : 10;
}

// All partial keys of one sentence.
class SentenceKeys {
 public:
  void set(const Token* token, std::int32_t n_words);

  std::int32_t n_words() const { return n_words_; }
  // The token that stands for no sibling.
  std::int32_t none() const { return n_words_ + 1; }
  const std::uint64_t* of(Role role, std::int32_t token) const {
    return key_.data() + (static_cast<std::int64_t>(token) * kRoles + role) * kPieces;
  }
  // The nearest token before that has the same tag, or -1; likewise for the coarse tag.
  std::int32_t same_before(std::int32_t token) const { return same_before_[token]; }
  std::int32_t same_coarse_before(std::int32_t token) const { return same_coarse_before_[token]; }
  std::uint64_t between(std::int32_t token) const { return between_[token]; }
  std::uint64_t coarse_between(std::int32_t token) const { return coarse_between_[token]; }

 private:
  std::int32_t n_words_ = 0;
  std::vector<std::uint64_t> key_, between_, coarse_between_;
  std::vector<std::int32_t> same_before_, same_coarse_before_;
};

namespace features {

struct Two {
  Piece head, modifier;
};
struct Three {
  Piece first, second, third;
};
struct Four {
  Piece grandparent, head, sibling, modifier;
};

// What the pruner knows of an arc. It looks at all pairs of words, so it has few templates: these with the distance,
// and the next without.
inline constexpr Two kRoughFar[] = {
    {kTag, kTag},
    {kWord, kTag},
    {kTag, kWord},
    {kCoarse, kCoarse},
    {kNothing, kTag},
    {kNothing, kWord},
    {kWord, kNothing},
    {kTag, kNothing},
    {kTagAround, kTag},
    {kTag, kTagAround},
    {kTagAfter, kTagBefore},
    {kTagBefore, kTagAfter},
    {kTagAfter, kTagAfter},
    {kTagBefore, kTagBefore},
    {kTagAround, kTagAround},
    {kTag, kSuffix},
    {kSuffix, kTag},
    {kWordTag, kCoarse},
    {kCoarse, kWordTag},
};
inline constexpr Two kRough[] = {
    {kWord, kWord}, {kTag, kTag}, {kWord, kTag}, {kTag, kWord}, {kTagAround, kTagAround}, {kTagAfter, kTagBefore},
};

// What the parser knows of an arc, both with the distance and without.
inline constexpr Two kArcs[] = {
    {kWord, kNothing},
    {kTag, kNothing},
    {kWordTag, kNothing},
    {kNothing, kWord},
    {kNothing, kTag},
    {kNothing, kWordTag},
    {kWord, kWord},
    {kTag, kTag},
    {kWordTag, kWordTag},
    {kTag, kWordTag},
    {kWord, kWordTag},
    {kWordTag, kWord},
    {kWordTag, kTag},
    {kWord, kTag},
    {kTag, kWord},
    {kTagAfter, kTagBefore},
    {kTagBefore, kTagBefore},
    {kTagAfter, kTagAfter},
    {kTagBefore, kTagAfter},
    {kTagBefore, kTag},
    {kTagAfter, kTag},
    {kTag, kTagBefore},
    {kTag, kTagAfter},
    {kTag, kSuffix},
    {kSuffix, kTag},
    {kTagAround, kTagAround},
    {kCoarse, kCoarse},
    {kCoarse, kWord},
    {kWord, kCoarse},
    {kBoth, kBoth},
    {kSuffix, kSuffix},
    {kWord, kSuffix},
    {kSuffix, kWord},
    {kShape, kShape},
    {kShape, kTag},
    {kTag, kShape},
    {kEnding, kTag},
    {kTag, kEnding},
    {kPrefix, kTag},
    {kTag, kPrefix},
    {kWordBefore, kTag},
    {kTag, kWordBefore},
    {kWordAfter, kTag},
    {kTag, kWordAfter},
    {kTwoBefore, kTag},
    {kTag, kTwoBefore},
    {kTwoAfter, kTag},
    {kTag, kTwoAfter},
    {kWordAround, kCoarse},
    {kCoarse, kWordAround},
    {kTagAround, kNothing},
    {kNothing, kTagAround},
    {kCoarseAround, kCoarseAround},
    {kCoarseAfter, kCoarseBefore},
};
// {head, sibling, modifier}
inline constexpr Three kSiblings[] = {
    {kTag, kTag, kTag},           {kNothing, kTag, kTag},       {kNothing, kWord, kWord},
    {kNothing, kWord, kTag},      {kNothing, kTag, kWord},      {kWord, kTag, kTag},
    {kTag, kWord, kTag},          {kTag, kTag, kWord},          {kWordTag, kWord, kWord},
    {kWord, kWord, kCoarse},      {kWord, kCoarse, kWord},      {kCoarse, kWord, kWord},
    {kCoarse, kCoarse, kCoarse},  {kWord, kCoarse, kCoarse},    {kCoarse, kWord, kCoarse},
    {kCoarse, kCoarse, kWord},    {kNothing, kTagAround, kTag}, {kNothing, kTag, kTagAround},
    {kNothing, kSuffix, kSuffix}, {kNothing, kShape, kShape},
};
// With the distance from the sibling.
inline constexpr Three kFarSiblings[] = {
    {kTag, kTag, kTag},
    {kNothing, kTag, kTag},
    {kCoarse, kWord, kCoarse},
    {kCoarse, kCoarse, kWord},
};
// {grandparent, head, modifier}
inline constexpr Three kGrandparents[] = {
    {kTag, kTag, kTag},           {kTag, kNothing, kTag},       {kWord, kNothing, kWord},
    {kWord, kNothing, kTag},      {kTag, kNothing, kWord},      {kWord, kTag, kTag},
    {kTag, kWord, kTag},          {kTag, kTag, kWord},          {kWord, kWord, kWord},
    {kWord, kWord, kCoarse},      {kWord, kCoarse, kWord},      {kCoarse, kWord, kWord},
    {kCoarse, kCoarse, kCoarse},  {kWord, kCoarse, kCoarse},    {kCoarse, kWord, kCoarse},
    {kCoarse, kCoarse, kWord},    {kTag, kNothing, kTagAround}, {kTagAround, kNothing, kTag},
    {kSuffix, kNothing, kSuffix}, {kShape, kNothing, kShape},
};
// With both distances.
inline constexpr Three kFarGrandparents[] = {{kTag, kTag, kTag}, {kCoarse, kCoarse, kCoarse}};
inline constexpr Four kGrandSiblings[] = {
    {kTag, kTag, kTag, kTag},
    {kTag, kNothing, kTag, kTag},
    {kWord, kTag, kTag, kTag},
    {kTag, kWord, kTag, kTag},
    {kTag, kTag, kWord, kTag},
    {kTag, kTag, kTag, kWord},
    {kCoarse, kCoarse, kCoarse, kCoarse},
};

enum Kind : std::uint64_t { kArcKind = 1, kBetweenKind, kManyKind, kSiblingKind, kGrandparentKind, kGrandSiblingKind };

constexpr std::uint64_t salt_of(Kind kind, std::uint64_t direction, std::uint64_t distance = 0) {
  return salt((static_cast<std::uint64_t>(kind) * 64 + direction) * 1024 + distance);
}

}  // namespace features

// Calls emit(key, slot) for every feature of a part. Tokens count from 0, the root.

// Tags between head and modifier: for each coarse tag whether it occurs once, and whether twice or more.
template <class Emit>
void coarse_between_features(const SentenceKeys& keys, std::int32_t h, std::int32_t m, const Emit& emit) {
  using namespace features;
  const std::int32_t first = std::min(h, m), last = std::max(h, m);
  const std::uint64_t coarse = keys.of(kHead, h)[kCoarse] + keys.of(kModifier, m)[kCoarse] + salt_of(kManyKind, h < m);
  for (std::int32_t j = first + 1; j < last; ++j) {
    const std::int32_t before = keys.same_coarse_before(j);
    if (before <= first) {
      emit(coarse + keys.coarse_between(j), 0);
    } else if (keys.same_coarse_before(before) <= first) {
      emit(coarse + keys.coarse_between(j), 1);
    }
  }
}

template <class Emit>
void arc_features(const SentenceKeys& keys, std::int32_t h, std::int32_t m, const Emit& emit) {
  using namespace features;
  const std::uint64_t plain = salt_of(kArcKind, h < m), distance = distance_bin(h, m);
  const std::uint64_t *head = keys.of(kHead, h), *modifier = keys.of(kModifier, m);
  for (const Two& use : kArcs) {
    const std::uint64_t key = head[use.head] + modifier[use.modifier] + plain;
    emit(key, 0);
    emit(key, distance);
  }
  const std::int32_t first = std::min(h, m), last = std::max(h, m);
  const std::uint64_t fine = head[kTag] + modifier[kTag] + salt_of(kBetweenKind, h < m);
  for (std::int32_t j = first + 1; j < last; ++j) {
    if (keys.same_before(j) <= first) emit(fine + keys.between(j), 0);
  }
  coarse_between_features(keys, h, m, emit);
}

template <class Emit>
void rough_arc_features(const SentenceKeys& keys, std::int32_t h, std::int32_t m, const Emit& emit) {
  using namespace features;
  const std::uint64_t plain = salt_of(kArcKind, h < m), distance = distance_bin(h, m);
  const std::uint64_t *head = keys.of(kHead, h), *modifier = keys.of(kModifier, m);
  for (const Two& use : kRoughFar) emit(head[use.head] + modifier[use.modifier] + plain, distance);
  for (const Two& use : kRough) emit(head[use.head] + modifier[use.modifier] + plain, 0);
  coarse_between_features(keys, h, m, emit);
}

// Without a sibling: x is keys.none().
template <class Emit>
void sibling_features(const SentenceKeys& keys, std::int32_t h, std::int32_t x, std::int32_t m, const Emit& emit) {
  using namespace features;
  const std::uint64_t plain = salt_of(kSiblingKind, h < m);
  const std::uint64_t distance = x == keys.none() ? 12 : distance_bin(x, m);
  const std::uint64_t *head = keys.of(kHead, h), *sibling = keys.of(kSibling, x), *modifier = keys.of(kModifier, m);
  for (const Three& use : kSiblings) emit(head[use.first] + sibling[use.second] + modifier[use.third] + plain, 0);
  for (const Three& use : kFarSiblings) {
    emit(head[use.first] + sibling[use.second] + modifier[use.third] + plain, distance);
  }
  const std::uint64_t both = salt_of(kSiblingKind, h < m, 32 + distance);
  emit(head[kCoarse] + sibling[kCoarse] + modifier[kCoarse] + both, distance_bin(h, m));
}

template <class Emit>
void grandparent_features(const SentenceKeys& keys, std::int32_t g, std::int32_t h, std::int32_t m, const Emit& emit) {
  using namespace features;
  const std::uint64_t direction = (h < m) * 2 + (g < h);
  const std::uint64_t plain = salt_of(kGrandparentKind, direction);
  const std::uint64_t far = salt_of(kGrandparentKind, direction, 16 + distance_bin(g, h));
  const std::uint64_t *grand = keys.of(kGrandparent, g), *head = keys.of(kHead, h), *modifier = keys.of(kModifier, m);
  for (const Three& use : kGrandparents) emit(grand[use.first] + head[use.second] + modifier[use.third] + plain, 0);
  for (const Three& use : kFarGrandparents) {
    emit(grand[use.first] + head[use.second] + modifier[use.third] + far, distance_bin(h, m));
  }
}

template <class Emit>
void grand_sibling_features(const SentenceKeys& keys, std::int32_t g, std::int32_t h, std::int32_t x, std::int32_t m,
                            const Emit& emit) {
  using namespace features;
  const std::uint64_t plain = salt_of(kGrandSiblingKind, (h < m) * 2 + (g < h));
  const std::uint64_t *grand = keys.of(kGrandparent, g), *head = keys.of(kHead, h);
  const std::uint64_t *sibling = keys.of(kSibling, x), *modifier = keys.of(kModifier, m);
  for (const Four& use : kGrandSiblings) {
    emit(grand[use.grandparent] + head[use.head] + sibling[use.sibling] + modifier[use.modifier] + plain, 0);
  }
}

}  // namespace espalier
