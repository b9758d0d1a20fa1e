// What patterns take: they are kept as long as their plan, and count in its budget.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/partial_tree_pattern.hpp"
#include "kernels/smoothed_partial_tree_pattern.hpp"
#include "kernels/subset_tree_pattern.hpp"

namespace espalier {

template <class... T>
std::int64_t bytes_of(const std::vector<T>&... vectors) {
  return static_cast<std::int64_t>((std::size_t{0} + ... + (vectors.capacity() * sizeof(T))));
}

inline std::int64_t bytes_of(const Occurrences& found) {
  return bytes_of(found.start, found.tree, found.position, found.count);
}

inline std::int64_t bytes_of(const PatternSide& side) {
  return bytes_of(side.bucket_start, side.bucket, side.height, side.child_base, side.child, side.tree_start,
                  side.tree_node, side.tree_count);
}

inline std::int64_t bytes_of(const Pattern& pattern) {
  const MatchLists& lists = pattern.lists;
  return bytes_of(pattern.rows) + bytes_of(pattern.columns) +
         bytes_of(lists.start, lists.bucket, lists.position, lists.child_position) +
         bytes_of(pattern.labels, pattern.slot, pattern.arity, pattern.is_child, pattern.row_child_start,
                  pattern.row_list, pattern.row_list_end, pattern.row_ahead, pattern.where_start, pattern.where_tree,
                  pattern.where_position, pattern.where_count, pattern.unit, pattern.entry_end, pattern.row_start,
                  pattern.kept_start);
}

inline std::int64_t bytes_of(const RunSide& side) {
  return bytes_of(side.bucket_start, side.bucket, side.run_start, side.run_size, side.run_shape, side.run_height,
                  side.run_bucket, side.bucket_run_start, side.run_child, side.child, side.tree_start, side.tree_node,
                  side.tree_count);
}

template <class Side>
std::int64_t bytes_of(const RunPattern<Side>& pattern) {
  return bytes_of(pattern.rows) + bytes_of(pattern.columns) + bytes_of(pattern.nodes) +
         bytes_of(pattern.labels, pattern.slot, pattern.shape_start, pattern.shape_symbol, pattern.entry_end);
}

inline std::int64_t bytes_of(const PartialSide& side) {
  return bytes_of(static_cast<const RunSide&>(side)) + bytes_of(side.n_terminal, side.word, side.symbol_start,
                                                                side.tree_symbol, side.symbol_count, side.match_start,
                                                                side.match, side.match_bucket);
}

inline std::int64_t bytes_of(const PartialPattern& pattern) {
  return bytes_of(static_cast<const RunPattern<PartialSide>&>(pattern)) + bytes_of(pattern.symbols) +
         bytes_of(pattern.twin, pattern.shape_label, pattern.symbol_end, pattern.row_offset, pattern.row_first,
                  pattern.partner);
}

inline std::int64_t bytes_of(const SmoothedSide& side) {
  return bytes_of(static_cast<const RunSide&>(side)) + bytes_of(side.words, side.terminal_start, side.word,
                                                                side.terminal_bucket, side.child_word, side.light_start,
                                                                side.light, side.light_count);
}

// Its blocks are counted with the tables of similar labels, which decide how many there are.
inline std::int64_t bytes_of(const SmoothedPattern& pattern) {
  return bytes_of(static_cast<const RunPattern<SmoothedSide>&>(pattern)) +
         bytes_of(pattern.row_label, pattern.column_label, pattern.group_first, pattern.group_end, pattern.same_word,
                  pattern.column_in_group);
}

}  // namespace espalier
