// The candidates of many sentences as graphs of arcs: each arc once, with the candidates that have it.
//
// Candidates of one sentence share most of their arcs. A subtree is therefore grown once in the graph of all of them,
// and a mask of bits tells which candidates have it. An arc has atoms: codes of words and tags around it, by template.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "jobs/team.hpp"
#include "selection/growing.hpp"

namespace espalier {

// What a template tells of an arc; the order of the numbers is that of Python.
enum class ArcPart : std::uint8_t {
  kHeadWord,
  kHeadTag,
  kHeadTagBefore,
  kHeadTagAfter,
  kWord,
  kTag,
  kTagBefore,
  kTagAfter,
  kRelation,
  kBetweenTag
};
struct ArcTemplate {
  std::vector<ArcPart> parts;
  bool length, direction;
};

// A code is exact: 8 bits for the template, 4 for length and direction, 52 for words of 26 bits, and tags and
// relations of 13.
inline constexpr int kWordBits = 26, kTagBits = 13;
inline constexpr std::int32_t kUnknown = 0;  // a word or tag that training has not seen: no atom has it

struct SentenceArrays {
  std::span<const std::int64_t> start;  // of the tokens of each sentence; the first of each is ROOT
  std::span<const std::int32_t> word;   // by token
  std::span<const std::int64_t> candidate_start;
  // The taggings of each sentence one after the other, by token; and by candidate which tagging of its sentence it has.
  std::span<const std::int64_t> tag_start;
  std::span<const std::int32_t> tag, tagging;
  // Candidate after candidate, by token but ROOT: its head, counted from 1, 0 is ROOT; and its relation, if templates tell
  // it, else empty.
  std::span<const std::int32_t> head, relation;
};

// Numbers for codes, in a fixed order.
class AtomTable {
 public:
  explicit AtomTable(std::vector<std::uint64_t> codes);
  std::uint32_t find(std::uint64_t code) const {
    for (std::size_t slot = home(code);; slot = (slot + 1) & (slots_.size() - 1)) {
      if (slots_[slot] == kNoFeature) return kNoFeature;
      if (codes_[slots_[slot]] == code) return slots_[slot];
    }
  }
  std::span<const std::uint64_t> codes() const { return codes_; }

 private:
  std::size_t home(std::uint64_t code) const { return features::salt(code) & (slots_.size() - 1); }

  std::vector<std::uint64_t> codes_;
  std::vector<std::uint32_t> slots_;
};

// One sentence. Arcs are sorted by head, then by modifier.
struct ArcUnion {
  std::int32_t n_arcs, n_candidates;
  Mask all;
  std::span<const std::int32_t> modifier;       // by arc
  std::span<const Mask> mask;                   // by arc
  std::span<const std::int32_t> first_of_head;  // by token, and one more
  std::span<const std::int64_t> atom_start;     // by arc, and one more
  const std::uint32_t* atom;
  std::span<const std::int64_t> next_start;  // by arc: its next siblings, which differ by candidate
  const std::int32_t* next_arc;
  const Mask* next_mask;

  std::span<const std::uint32_t> atoms(std::int32_t arc) const {
    return {atom + atom_start[arc], atom + atom_start[arc + 1]};
  }
};

class SubtreeGrowth;

class ArcUnions {
 public:
  using Growth = SubtreeGrowth;  // what grows in it

  ArcUnions(const SentenceArrays& sentences, std::span<const ArcTemplate> templates, bool root, const AtomTable& atoms,
            Team& team);

  std::int64_t size() const { return std::ssize(sentences_); }
  ArcUnion operator[](std::int64_t sentence) const;
  std::int64_t n_bytes() const;

 private:
  struct Sentence {
    std::int32_t n_candidates;
    std::vector<std::int32_t> modifier, first_of_head, next_arc;
    std::vector<Mask> mask, next_mask;
    std::vector<std::int64_t> atom_start, next_start;
    std::vector<std::uint32_t> atom;
  };
  static std::span<const std::uint32_t> atoms_of(const Sentence& own, std::int64_t arc);

  std::vector<Sentence> sentences_;
};

// The codes that occur in more than `threshold` sentences, in any candidate: the others can never be selected. Sorted.
std::vector<std::uint64_t> frequent_codes(const SentenceArrays& sentences, std::span<const ArcTemplate> templates,
                                          bool root, double threshold, Team& team);

}  // namespace espalier
