// Many fragments of subset trees in one trie over their codes, matched at all subtrees of a forest at once.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/forest_view.hpp"
#include "corpus/hashing.hpp"
#include "corpus/key_table.hpp"
#include "jobs/team.hpp"

namespace espalier {

// Fragments as codes over productions, which are keys of labels: see corpus/productions.hpp and subset_tree_mining.hpp. A word that
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
  // For each tree the weights of the fragments in it, as often as they occur: n weights for each fragment, and n sums
  // for each tree.
  void score(const ForestView& forest, const std::int32_t* label_of, const double* weight, std::int64_t n, Team& team,
             double* out) const;

 private:
  static constexpr std::int32_t kNone = -1;
  struct Node {
    std::int32_t closed = kNone;  // where it leads if the next tree node stays unexpanded
    std::uint32_t expands = 0;    // a bit for each production that it may lead on by: most others need no look
    std::int32_t production = -2, child = kNone;  // the first of these edges
    bool only = true;                             // there is no other
  };
  struct Edge {
    std::uint64_t key;  // node and production
    std::int32_t child;
  };
  // A node of a tree, with its production by the fragments' numbers; -1 where no fragment has it.
  struct Place {
    std::int32_t subtree, production;
  };
  // The inner children of a subtree, the last first; of more than two the others stand elsewhere.
  struct Children {
    Place first[2];
    std::int32_t n = 0;
    std::int32_t others = 0;
  };
  // A forest as far as the fragments know it.
  struct Known {
    std::vector<std::int32_t> production;  // by subtree; -1 also where no tree has it
    std::vector<Children> children;        // by subtree; none where its production is not known
    std::vector<Place> others;
  };
  // The tree nodes that still need a decision: a list that many states of the search share.
  struct Agenda {
    Place node;
    std::int32_t next;
  };
  struct State {
    std::int32_t trie, agenda;  // -1 where nothing is left to decide
  };
  struct Scratch {
    Team& team;
    int worker;
    std::vector<Agenda> cells{};
    std::vector<State> states{};
    std::int64_t looked = 0;
  };

  template <class Visit>
  void walk(const Known& known, std::int32_t u, Scratch& scratch, const Visit& visit) const;
  template <class Visit, class Done>
  void walk_all(const ForestView& forest, const std::int32_t* label_of, Team& team, const Visit& visit,
                const Done& done) const;

  std::int32_t child(std::int32_t node, std::int32_t production) const;
  std::int32_t add_child(std::int32_t node, std::int32_t production);
  std::size_t place(std::uint64_t key) const;
  void grow();
  Known known_of(const ForestView& forest, const std::int32_t* label_of) const;

  KeyTable productions_;
  std::vector<char> starts_;  // by production: a fragment begins with it
  std::vector<Node> nodes_;
  std::vector<std::int64_t> ends_start_;  // by node of the trie: the fragments that end here
  std::vector<std::int32_t> ends_;
  Hasher hasher_;
  std::vector<Edge> edges_;  // an open hash table
  std::int64_t n_edges_ = 0;
};

}  // namespace espalier
