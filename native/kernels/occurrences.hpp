// Where the nodes of a pattern occur in the trees.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/sort_by_key.hpp"

namespace espalier {

// Where each row node occurs: in which trees, how often, and where its columns end there.
struct RowOccurrences {
  std::vector<std::int64_t> start, end;  // by node; by occurrence
  std::vector<std::int32_t> tree, count;
};

// The entries of the rows' trees, by node.
template <class Side>
RowOccurrences row_occurrences(const Side& rows, const std::vector<std::int64_t>& entry_end) {
  RowOccurrences out;
  std::vector<std::int32_t> tree_of(rows.tree_node.size());
  for (std::int64_t s = 0; s < rows.n_trees; ++s) {
    for (std::int64_t e = rows.tree_start[s]; e < rows.tree_start[s + 1]; ++e)
      tree_of[e] = static_cast<std::int32_t>(s);
  }
  for (std::int32_t entry : sort_by_key(rows.tree_node, rows.n_nodes, out.start)) {
    out.tree.push_back(tree_of[entry]);
    out.count.push_back(rows.tree_count[entry]);
    out.end.push_back(entry_end[entry]);
  }
  return out;
}

}  // namespace espalier
