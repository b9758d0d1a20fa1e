#include "kernels/smoothed_partial_tree_pattern.hpp"

#include <algorithm>

#include "corpus/key_table.hpp"
#include "kernels/collected.hpp"

namespace espalier {

namespace {

// Symbols are labels in a group, of leaves too; those of inner nodes will be buckets.
void number_symbols(const ForestView& forest, Collected& nodes, KeyTable& table) {
  nodes.symbol.resize(nodes.subtree.size());
  for (std::int32_t r = 0; r < nodes.size(); ++r) {
    nodes.symbol[r] = table.number({forest.label[nodes.subtree[r]], nodes.group[r]});
  }
}

// Where only equal labels match, those of both sides; the rest become -1. Then leaves get the symbol behind them.
void keep_matching(SmoothedPattern& pattern, const KeyTable& table, const ForestView& a, Collected& rows,
                   const ForestView* b, Collected* columns) {
  std::vector<std::int32_t> seen(table.size(), pattern.soft_labels ? 3 : 0), number(table.size(), -1);
  std::vector<char> is_inner(table.size(), 0);
  const auto see = [&](const ForestView& forest, const Collected& nodes, std::int32_t side) {
    for (std::int32_t r = 0; r < nodes.size(); ++r) {
      seen[nodes.symbol[r]] |= side;
      if (!forest.is_leaf(nodes.subtree[r])) is_inner[nodes.symbol[r]] = 1;
    }
  };
  see(a, rows, columns ? 1 : 3);
  if (columns) see(*b, *columns, 2);
  Slots slots(pattern.labels);
  std::vector<std::int32_t> group;
  for (std::int32_t x = 0; x < table.size(); ++x) {
    if (seen[x] != 3 || !is_inner[x]) continue;
    number[x] = pattern.n_buckets++;
    const std::int32_t* key = table.pool().data() + table.starts()[x];
    pattern.slot.push_back(slots.of(key[0]));
    group.push_back(key[1]);
  }
  // Nodes were numbered group by group, so the buckets of one stand together.
  pattern.group_first.resize(pattern.n_buckets);
  pattern.group_end.resize(pattern.n_buckets);
  for (std::int32_t p = 0; p < pattern.n_buckets; ++p) {
    pattern.group_first[p] = p > 0 && group[p - 1] == group[p] ? pattern.group_first[p - 1] : p;
  }
  for (std::int32_t p = pattern.n_buckets - 1; p >= 0; --p) {
    const bool last = p + 1 == pattern.n_buckets || group[p + 1] != group[p];
    pattern.group_end[p] = last ? p + 1 : pattern.group_end[p + 1];
  }
  const auto renumber = [&](const ForestView& forest, Collected& nodes) {
    for (std::int32_t r = 0; r < nodes.size(); ++r) {
      nodes.symbol[r] = forest.is_leaf(nodes.subtree[r]) ? pattern.n_buckets : number[nodes.symbol[r]];
    }
  };
  renumber(a, rows);
  if (columns) renumber(*b, *columns);
}

std::vector<RunItem> sorted_items(const ForestView& forest, const Collected& raw, std::int32_t n_buckets,
                                  KeyTable& shapes) {
  std::vector<RunItem> items;
  std::vector<std::int32_t> key;
  Children children(forest, raw);
  for (std::int32_t r = 0; r < raw.size(); ++r) {
    if (raw.symbol[r] < 0 || raw.symbol[r] == n_buckets) continue;
    key.clear();
    children.visit(r, [&](std::int32_t c) { key.push_back(raw.symbol[c]); });
    const bool is_terminal = key.size() == 1 && key[0] == n_buckets;
    items.push_back({r, raw.symbol[r], is_terminal ? 0 : forest.height[raw.subtree[r]], shapes.number(key)});
  }
  sort_items(items);
  return items;
}

// The leaves' labels as numbers among themselves; by label id, -1 for others.
std::vector<std::int32_t> number_words(const ForestView& forest, const Collected& raw, SmoothedSide& side) {
  std::vector<std::int32_t> number;
  for (std::int32_t r = 0; r < raw.size(); ++r) {
    const std::int32_t u = raw.subtree[r], label = forest.label[u];
    if (!forest.is_leaf(u)) continue;
    if (label >= static_cast<std::int32_t>(number.size())) number.resize(label + 1, -1);
    if (number[label] >= 0) continue;
    number[label] = static_cast<std::int32_t>(side.words.size());
    side.words.push_back(label);
  }
  return number;
}

void add_terminals(const std::vector<RunItem>& items, std::int32_t n_buckets, SmoothedSide& side) {
  side.terminal_start.assign(n_buckets + 1, 0);
  for (const RunItem& item : items) {
    if (item.height > 0) continue;
    ++side.terminal_start[item.bucket + 1];
    side.terminal_bucket.push_back(item.bucket);
  }
  for (std::int32_t p = 0; p < n_buckets; ++p) side.terminal_start[p + 1] += side.terminal_start[p];
}

void add_children(const ForestView& forest, const Collected& raw, const std::vector<RunItem>& items,
                  const std::vector<std::int32_t>& node, const std::vector<std::int32_t>& word_number,
                  SmoothedSide& side) {
  const auto word_of = [&](std::int32_t r) { return word_number[forest.label[raw.subtree[r]]]; };
  const std::vector<std::int32_t> run_of = add_child_starts(forest, raw, items, side);
  side.child.assign(side.run_child.back(), -1);
  side.child_word.assign(side.run_child.back(), -1);
  side.word.resize(side.terminal_bucket.size());
  Children children(forest, raw);
  for (std::int32_t r = 0; r < raw.size(); ++r) {
    const std::int32_t u = node[r];
    if (u < 0) continue;
    std::int64_t to = side.run_child[run_of[u]] + (u - side.run_start[run_of[u]]);
    children.visit(r, [&](std::int32_t c) {
      if (forest.is_leaf(raw.subtree[c])) {
        side.child_word[to] = word_of(c);
        if (side.is_terminal(u)) side.word[side.terminal_start[side.bucket[u]] + side.position(u)] = word_of(c);
      } else if (node[c] >= 0) {
        side.child[to] = node[c];  // children come first, so their words are known
        if (side.is_terminal(node[c])) side.child_word[to] = side.word_of(node[c]);
      }
      to += side.run_size[run_of[u]];
    });
  }
}

SmoothedSide arrange(const ForestView& forest, const Collected& raw, std::int32_t n_buckets, KeyTable& shapes) {
  SmoothedSide side;
  side.n_trees = forest.n_trees;
  const std::vector<RunItem> items = sorted_items(forest, raw, n_buckets, shapes);
  const std::vector<std::int32_t> word_number = number_words(forest, raw, side);
  const std::vector<std::int32_t> node = nodes_of(items, raw);
  add_runs(items, n_buckets, side);
  add_terminals(items, n_buckets, side);
  add_children(forest, raw, items, node, word_number, side);
  side.tree_start.assign(1, 0);
  side.light_start.assign(1, 0);
  for (std::int64_t t = 0; t < forest.n_trees; ++t) {
    for (std::int64_t e = forest.tree_start[t]; e < forest.tree_start[t + 1]; ++e) {
      const std::int32_t r = raw.entry[e - forest.tree_start[0]], u = node[r];
      if (u >= 0) {
        side.tree_node.push_back(u);
        side.tree_count.push_back(forest.tree_count[e]);
      }
      const bool is_leaf = forest.is_leaf(raw.subtree[r]);
      if (!is_leaf && (u < 0 || !side.is_terminal(u))) continue;
      side.light.push_back(
          is_leaf ? word_number[forest.label[raw.subtree[r]]]
                  : static_cast<std::int32_t>(side.n_words() + side.terminal_start[side.bucket[u]] + side.position(u)));
      side.light_count.push_back(static_cast<double>(forest.tree_count[e]));
    }
    side.tree_start.push_back(static_cast<std::int64_t>(side.tree_node.size()));
    side.light_start.push_back(static_cast<std::int64_t>(side.light.size()));
  }
  return side;
}

// Numbers the labels that one side has among themselves.
std::int64_t number_labels(const SmoothedPattern& pattern, const SmoothedSide& side,
                           std::vector<std::int32_t>& number) {
  number.assign(pattern.labels.size(), -1);
  std::int32_t n = 0;
  for (std::int32_t p = 0; p < pattern.n_buckets; ++p) {
    if (side.members(p) > 0 && number[pattern.slot[p]] < 0) number[pattern.slot[p]] = n++;
  }
  return n;
}

// By label in `wanted`: where it stands in a list of different labels, or -1.
std::vector<std::int32_t> places(const std::vector<std::int32_t>& wanted, const std::vector<std::int32_t>& labels) {
  std::vector<std::int32_t> place, out;
  for (std::size_t y = 0; y < labels.size(); ++y) {
    if (labels[y] >= static_cast<std::int32_t>(place.size())) place.resize(labels[y] + 1, -1);
    place[labels[y]] = static_cast<std::int32_t>(y);
  }
  for (std::int32_t label : wanted) {
    out.push_back(label < static_cast<std::int32_t>(place.size()) ? place[label] : -1);
  }
  return out;
}

// Counts the labels of a side's trees that may match leaves of the other side.
void add_labels(const SmoothedPattern& pattern, bool are_rows, SmoothedSide& side) {
  std::vector<std::int64_t> at(pattern.labels.size(), -1);
  side.label_start.assign(1, 0);
  side.tree_label.clear();
  side.label_count.clear();
  for (std::int64_t t = 0; t < side.n_trees; ++t) {
    for (std::int64_t e = side.tree_start[t]; e < side.tree_start[t + 1]; ++e) {
      const std::int32_t bucket = side.bucket[side.tree_node[e]], slot = pattern.slot[bucket];
      if (!pattern.may_match_leaf(bucket, !are_rows)) continue;
      if (at[slot] < side.label_start.back()) {
        at[slot] = static_cast<std::int64_t>(side.tree_label.size());
        side.tree_label.push_back(slot);
        side.label_count.push_back(0.0);
      }
      side.label_count[at[slot]] += static_cast<double>(side.tree_count[e]);
    }
    side.label_start.push_back(static_cast<std::int64_t>(side.tree_label.size()));
  }
}

// Finds the labels of inner nodes that match some leaf of the other side, and counts them.
void link_leaves(SmoothedPattern& pattern, const LabelTables& similarity) {
  const std::int64_t n_row_words = pattern.rows.n_words(), n_column_words = pattern.cols().n_words();
  pattern.row_meets.assign(pattern.labels.size(), 0);
  pattern.column_meets.assign(pattern.labels.size(), 0);
  for (std::size_t slot = 0; slot < pattern.labels.size(); ++slot) {
    const std::int32_t row = pattern.row_label[slot], column = pattern.column_label[slot];
    bool in_rows = row >= 0 && pattern.column_word[slot] >= 0;
    bool in_columns = column >= 0 && pattern.row_word[slot] >= 0;
    for (std::int64_t w = 0; pattern.soft_labels && row >= 0 && !in_rows && w < n_column_words; ++w) {
      in_rows = similarity.label_words[row * n_column_words + w] != 0.0;
    }
    for (std::int64_t w = 0; pattern.soft_labels && column >= 0 && !in_columns && w < n_row_words; ++w) {
      in_columns = similarity.word_labels[w * pattern.n_column_labels + column] != 0.0;
    }
    pattern.row_meets[slot] = in_rows;
    pattern.column_meets[slot] = in_columns;
  }
  add_labels(pattern, true, pattern.rows);
  if (!pattern.symmetric) add_labels(pattern, false, pattern.columns);
}

}  // namespace

SmoothedPattern make_smoothed_pattern(const ForestView& a, const ForestView* b, bool per_tree, bool soft_labels,
                                      Listener& listener) {
  SmoothedPattern pattern;
  pattern.symmetric = b == nullptr;
  pattern.per_tree = per_tree;
  pattern.soft_labels = soft_labels;
  pattern.n_columns = per_tree ? 1 : (b ? b->n_trees : a.n_trees);
  KeyTable symbols(&listener), shapes(&listener);
  Collected rows = collect_subtrees(a, per_tree), columns;
  number_symbols(a, rows, symbols);
  if (b) {
    columns = collect_subtrees(*b, per_tree);
    number_symbols(*b, columns, symbols);
  }
  keep_matching(pattern, symbols, a, rows, b, b ? &columns : nullptr);
  const std::int64_t n_nodes = rows.size() + columns.size();
  listener.step(n_nodes);
  pattern.rows = arrange(a, rows, pattern.n_buckets, shapes);
  listener.step(n_nodes);
  if (b) pattern.columns = arrange(*b, columns, pattern.n_buckets, shapes);
  listener.step(n_nodes);
  pattern.set_shapes(shapes);
  pattern.n_row_labels = number_labels(pattern, pattern.rows, pattern.row_label);
  pattern.n_column_labels = number_labels(pattern, pattern.cols(), pattern.column_label);
  pattern.same_word = places(pattern.rows.words, pattern.cols().words);
  pattern.slot_of_word = places(pattern.rows.words, pattern.labels);
  pattern.row_word = places(pattern.labels, pattern.rows.words);
  pattern.column_word = places(pattern.labels, pattern.cols().words);
  std::vector<std::int64_t> place;
  pattern.nodes = node_occurrences(pattern.cols(), per_tree, place);
  if (pattern.symmetric) pattern.entry_end = std::move(place);
  pattern.entry_end.resize(pattern.rows.tree_node.size(), -1);
  listener.step(n_nodes);
  if (!soft_labels) link_blocks(pattern, {});
  return pattern;
}

void link_blocks(SmoothedPattern& pattern, const LabelTables& similarity) {
  if (pattern.is_linked()) return;
  link_leaves(pattern, similarity);
  const SmoothedSide &rows = pattern.rows, &cols = pattern.cols();
  const auto is_similar = [&](std::int32_t p, std::int32_t q) {
    const std::int64_t row = pattern.row_label[pattern.slot[p]], column = pattern.column_label[pattern.slot[q]];
    return p == q || similarity.labels[row * pattern.n_column_labels + column] != 0.0;
  };
  std::vector<std::int64_t> block_start(1, 0);
  pattern.blocks.clear();  // for the case that memory ran out half-way
  pattern.block_of.clear();
  pattern.block_of_row.clear();
  pattern.column_in_group.assign(pattern.n_buckets, -1);
  pattern.n_pairs = 0;
  for (std::int32_t q = 0, n = 0; q < pattern.n_buckets; ++q) {
    if (pattern.group_first[q] == q) n = 0;
    if (cols.members(q) > 0) pattern.column_in_group[q] = n++;
  }
  for (std::int32_t p = 0; p < pattern.n_buckets; ++p) {
    pattern.block_of_row.push_back(static_cast<std::int64_t>(pattern.block_of.size()));
    const std::int32_t first = pattern.soft_labels ? pattern.group_first[p] : p;
    const std::int32_t end = pattern.soft_labels ? pattern.group_end[p] : p + 1;
    for (std::int32_t q = first; q < end && rows.members(p) > 0; ++q) {
      if (cols.members(q) == 0) continue;
      const bool is_stored = !(pattern.symmetric && q > p) && is_similar(p, q);
      if (pattern.soft_labels) {
        pattern.block_of.push_back(is_stored ? static_cast<std::int32_t>(pattern.blocks.size()) : -1);
      }
      if (!is_stored) continue;
      const Block block{
          p, q, pattern.symmetric && p == q, pattern.n_pairs, cols.members(q), rows.n_terminal(p), cols.n_terminal(q)};
      pattern.n_pairs = block.row(rows.members(p));
      pattern.blocks.push_back(block);
    }
    block_start.push_back(static_cast<std::int64_t>(pattern.blocks.size()));
  }
  pattern.block_start = std::move(block_start);
}

}  // namespace espalier
