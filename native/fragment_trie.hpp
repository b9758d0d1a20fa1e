// Many fragments of subset trees in one trie over their codes, matched at all subtrees of a forest at once.
#pragma once

#include <cstdint>
#include <vector>

#include "key_table.hpp"
#include "pattern.hpp"
#include "team.hpp"

namespace espalier {

// Fragments as codes over productions, which are keys of labels: see productions.hpp and subset_mining.hpp. A word that
// is a fragment by itself is the production -1 - label.
struct FragmentCodes {
  std::int64_t n_productions, n_fragments;
  const std::int64_t *production_start, *start;
  const std::int32_t *production_part, *code;
};

// For each decision of a code, where the decision stands that expands the node above; -1 at the root.
std::vector<std::int64_t> code_parents(const FragmentCodes& fragments);

// Which fragments stand at which subtrees: compressed rows.
struct Matches {
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> fragment;
};

class FragmentTrie {
 public:
  explicit FragmentTrie(const FragmentCodes& fragments);

  // label_of maps the forest's labels to those of the fragments; -1 where these have none.
  Matches match(const ForestView& forest, const std::int32_t* label_of, Team& team) const;

 private:
  static constexpr std::int32_t kNone = -1;

  std::int32_t child(std::int32_t node, std::int32_t production) const;
  std::int32_t add_child(std::int32_t node, std::int32_t production);
  void grow();
  std::vector<std::int32_t> productions_of(const ForestView& forest, const std::int32_t* label_of) const;

  KeyTable productions_;
  std::vector<std::int32_t> closed_;      // by node of the trie: where it leads if the next tree node stays unexpanded
  std::vector<std::int64_t> ends_start_;  // by node of the trie: the fragments that end here
  std::vector<std::int32_t> ends_;
  std::vector<std::uint64_t> keys_;  // node and production
  std::vector<std::int32_t> children_;
  std::int64_t n_edges_ = 0;
};

}  // namespace espalier
