// Where the nodes of a pattern occur in the trees.
#pragma once

#include <cstdint>
#include <vector>

#include "corpus/sort_by_key.hpp"

namespace espalier {

// Where the nodes, or the symbols, of the columns occur.
struct Occurrences {
  std::vector<std::int64_t> start;
  std::vector<std::int32_t> tree, position;
  std::vector<double> count;
};

// By key of the entries of trees; place gets, by entry, where it stands among all occurrences.
template <class Count>
Occurrences occurrences(std::int64_t n_keys, const std::vector<std::int64_t>& tree_start,
                        const std::vector<std::int32_t>& key, const std::vector<Count>& count, bool per_tree,
                        std::vector<std::int64_t>& place) {
  Occurrences out;
  const std::vector<std::int32_t> order = sort_by_key(key, n_keys, out.start);
  std::vector<std::int32_t> tree_of(key.size());
  for (std::size_t t = 0; t + 1 < tree_start.size(); ++t) {
    for (std::int64_t e = tree_start[t]; e < tree_start[t + 1]; ++e) tree_of[e] = static_cast<std::int32_t>(t);
  }
  place.resize(key.size());
  for (std::size_t k = 0; k < order.size(); ++k) {
    out.tree.push_back(per_tree ? 0 : tree_of[order[k]]);
    out.count.push_back(static_cast<double>(count[order[k]]));
    place[order[k]] = static_cast<std::int64_t>(k);
  }
  return out;
}

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
