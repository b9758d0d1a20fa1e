// Fragments by their definition: listed one by one, and written so that equal ones have equal texts.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "corpus/forest_view.hpp"
#include "corpus/productions.hpp"
#include "corpus/vocabulary.hpp"
#include "spaces/mined.hpp"
#include "spaces/partial_tree_mining.hpp"

namespace espalier::tests {

// A fragment of subset trees. An inner node is written (A ...), one that stays unexpanded [A], a word as it is.
struct Listed {
  std::string text;
  Code code;      // over the productions of its corpus
  double weight;  // in the kernel
  std::int32_t size, depth;
  std::vector<std::int32_t> expanded;  // nodes, by their places in the subtree, each before its children
};

inline std::int32_t n_nodes(const ForestView& forest, std::int32_t u) {
  std::int32_t n = 1;
  for (std::int64_t c = forest.child_start[u]; c < forest.child_start[u + 1]; ++c)
    n += n_nodes(forest, forest.child[c]);
  return n;
}

// By subtree, all fragments that are rooted there.
inline std::vector<std::vector<Listed>> list_fragments(const ForestView& forest, const Vocabulary& vocabulary,
                                                       const Productions& productions, const double* decay,
                                                       const double* frontier) {
  std::vector<std::vector<Listed>> out(forest.n_subtrees);
  for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {
    if (forest.is_leaf(u)) continue;
    const std::int32_t label = forest.label[u];
    std::vector<Listed> begun{{"(" + vocabulary.label(label), {productions.of[u]}, decay[label], 1, 1, {0}}};
    std::int32_t place = 1;
    for (std::int64_t c = forest.child_start[u]; c < forest.child_start[u + 1]; ++c) {
      const std::int32_t child = forest.child[c];
      const std::string& name = vocabulary.label(forest.label[child]);
      std::vector<Listed> longer;
      for (const Listed& left : begun) {
        Listed shorter = left;
        shorter.text += forest.is_leaf(child) ? " " + name : " [" + name + "]";
        if (!forest.is_leaf(child)) {
          shorter.code.push_back(-1);
          shorter.weight *= frontier[label];
        }
        longer.push_back(shorter);
        for (const Listed& below : out[child]) {
          Listed both = left;
          both.text += " " + below.text;
          both.code.insert(both.code.end(), below.code.begin(), below.code.end());
          both.weight *= below.weight;
          both.size += below.size;
          both.depth = std::max(left.depth, below.depth + 1);
          for (std::int32_t node : below.expanded) both.expanded.push_back(place + node);
          longer.push_back(both);
        }
      }
      begun.swap(longer);
      place += n_nodes(forest, child);
    }
    for (Listed& fragment : begun) fragment.text += ")";
    out[u] = std::move(begun);
  }
  return out;
}

// One way in which a fragment of partial trees stands at a subtree.
struct Way {
  Code code;  // depths and labels
  double weight;
};

// By subtree, all ways of fragments of at most max_size nodes that are rooted there.
inline std::vector<std::vector<Way>> list_ways(const ForestView& forest, const PartialWeights& weights,
                                               std::size_t max_size) {
  std::vector<std::vector<Way>> out(forest.n_subtrees);
  for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {
    const std::int32_t label = forest.label[u];
    const bool leaf = forest.is_leaf(u);
    const double decay = leaf ? weights.leaf_decay : weights.decay[label];
    const double root = std::sqrt(leaf ? weights.leaf_depth_decay : weights.depth_decay[label]);
    struct Begun {
      Way way;
      std::int64_t last;  // the child that was kept last
    };
    std::vector<Begun> begun{{{{0, label}, root}, -1}};
    out[u].push_back({begun.front().way.code, root * decay});
    for (std::int64_t c = forest.child_start[u]; c < forest.child_start[u + 1]; ++c) {
      const std::size_t n_before = begun.size();
      for (std::size_t k = 0; k < n_before; ++k) {
        for (const Way& below : out[forest.child[c]]) {
          Begun next = begun[k];
          if (next.way.code.size() + below.code.size() > 2 * max_size) continue;
          for (std::size_t e = 0; e < below.code.size(); ++e) {
            next.way.code.push_back(e % 2 == 0 ? below.code[e] + 1 : below.code[e]);
          }
          const double n_skipped = next.last < 0 ? 0.0 : static_cast<double>(c - next.last - 1);
          next.way.weight *= below.weight * std::pow(decay, n_skipped);
          next.last = c;
          out[u].push_back(next.way);
          begun.push_back(next);
        }
      }
    }
  }
  return out;
}

}  // namespace espalier::tests
