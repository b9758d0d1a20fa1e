// The productions of a corpus: a label with the labels of its children, each a word or not.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/forest_view.hpp"
#include "corpus/key_table.hpp"

namespace espalier {

struct Productions {
  std::vector<std::int32_t> of;     // by subtree; -1 for a leaf
  std::vector<std::int64_t> start;  // by production, into part
  std::vector<std::int32_t> part;   // the label, then 2 * label + (1 for a word) of each child
};

inline Productions number_productions(const ForestView& forest) {
  Productions out;
  out.of.assign(forest.n_subtrees, -1);
  KeyTable table;
  std::vector<std::int32_t> key;
  for (std::int64_t u = 0; u < forest.n_subtrees; ++u) {
    if (forest.is_leaf(static_cast<std::int32_t>(u))) continue;
    key.assign(1, forest.label[u]);
    for (std::int64_t c = forest.child_start[u]; c < forest.child_start[u + 1]; ++c) {
      const std::int32_t child = forest.child[c];
      key.push_back(2 * forest.label[child] + (forest.is_leaf(child) ? 1 : 0));
    }
    out.of[u] = table.number(key);
  }
  out.start = table.starts();
  out.part = table.pool();
  return out;
}

}  // namespace espalier
