#include "kernels/partial_tree_pattern.hpp"

#include <algorithm>

#include "corpus/key_table.hpp"
#include "kernels/collected.hpp"

namespace espalier {

namespace {

void number_symbols(const ForestView& forest, Collected& raw, KeyTable& table) {
  raw.symbol.resize(raw.subtree.size());
  for (std::size_t r = 0; r < raw.subtree.size(); ++r) {
    const std::int32_t u = raw.subtree[r];
    raw.symbol[r] = table.number({2 * forest.label[u] + forest.is_leaf(u), raw.group[r]});
  }
}

// Symbols whose label both sides have, as a leaf or not, inner nodes first; the rest become -1.
void keep_common(PartialPattern& pattern, KeyTable& table, Collected& a, Collected* b) {
  KeyTable labels;
  std::vector<std::int32_t> label_of(table.size()), number(table.size(), -1);
  for (std::int32_t x = 0; x < table.size(); ++x) {
    const std::int32_t* key = table.pool().data() + table.starts()[x];
    label_of[x] = labels.number({key[0] / 2, key[1]});
  }
  std::vector<std::int32_t> seen(labels.size(), 0), inner(labels.size(), -1);
  for (std::int32_t x : a.symbol) seen[label_of[x]] |= b ? 1 : 3;
  if (b) {
    for (std::int32_t x : b->symbol) seen[label_of[x]] |= 2;
  }
  for (int leaf = 0; leaf < 2; ++leaf) {
    for (std::int32_t x = 0; x < table.size(); ++x) {
      const std::int32_t label = label_of[x];
      if (seen[label] != 3 || (table.pool()[table.starts()[x]] & 1) != leaf) continue;
      number[x] = pattern.n_symbols++;
      pattern.twin.push_back(leaf ? inner[label] : -1);
      if (!leaf) {
        inner[label] = number[x];
      } else if (inner[label] >= 0) {
        pattern.twin[inner[label]] = number[x];
      }
    }
    if (leaf == 0) pattern.n_buckets = pattern.n_symbols;
  }
  Slots slots(pattern.labels);
  pattern.slot.resize(pattern.n_buckets);
  for (std::int32_t x = 0; x < table.size(); ++x) {
    const std::int32_t label = table.pool()[table.starts()[x]] / 2, p = number[x];
    if (p >= 0 && p < pattern.n_buckets) pattern.slot[p] = slots.of(label);
  }
  for (std::int32_t& x : a.symbol) x = number[x];
  if (b) {
    for (std::int32_t& x : b->symbol) x = number[x];
  }
}

// Lays out the nodes of one side, and returns them by number among the collected ones.
std::vector<std::int32_t> arrange_nodes(const ForestView& forest, const Collected& raw, std::int32_t n_buckets,
                                        KeyTable& shapes, PartialSide& side) {
  std::vector<RunItem> items;
  std::vector<std::int32_t> key, word(raw.subtree.size(), -1);
  Children children(forest, raw);
  for (std::int32_t r = 0; r < raw.size(); ++r) {
    const std::int32_t u = raw.subtree[r];
    if (forest.is_leaf(u) || raw.symbol[r] < 0) continue;
    key.clear();
    children.visit(r, [&](std::int32_t c) { key.push_back(raw.symbol[c]); });
    const bool terminal = key.size() == 1 && forest.is_leaf(forest.child[forest.child_start[u]]);
    if (terminal) word[r] = key[0];
    items.push_back({r, raw.symbol[r], terminal ? 0 : forest.height[u], terminal ? -1 : shapes.number(key)});
  }
  sort_items(items);
  add_runs(items, n_buckets, side);
  side.n_terminal.assign(n_buckets, 0);
  for (const RunItem& item : items) {
    side.word.push_back(word[item.raw]);
    if (item.shape < 0) ++side.n_terminal[item.bucket];
  }
  const std::vector<std::int32_t> node = nodes_of(items, raw), run_of = add_child_starts(forest, raw, items, side);
  side.child.assign(side.run_child.back(), -2);
  Children again(forest, raw);
  for (std::int32_t r = 0; r < raw.size(); ++r) {
    if (node[r] < 0 || run_of[node[r]] < 0) continue;
    const std::int32_t run = run_of[node[r]];
    std::int64_t to = side.run_child[run] + (node[r] - side.run_start[run]);
    again.visit(r, [&](std::int32_t c) {
      side.child[to] = forest.is_leaf(raw.subtree[c]) ? -1 : (node[c] < 0 ? -2 : node[c]);
      to += side.run_size[run];
    });
  }
  return node;
}

PartialSide arrange(const ForestView& forest, const Collected& raw, const PartialPattern& pattern, KeyTable& shapes) {
  PartialSide side;
  side.n_trees = forest.n_trees;
  const std::vector<std::int32_t> node = arrange_nodes(forest, raw, pattern.n_buckets, shapes, side);
  const std::int64_t first = forest.tree_start[0];
  side.tree_start.assign(1, 0);
  side.symbol_start.assign(1, 0);
  std::vector<std::int64_t> at(pattern.n_symbols, -1);
  for (std::int64_t t = 0; t < forest.n_trees; ++t) {
    for (std::int64_t e = forest.tree_start[t]; e < forest.tree_start[t + 1]; ++e) {
      const std::int32_t r = raw.entry[e - first], x = raw.symbol[r];
      if (x < 0) continue;
      if (node[r] >= 0) {
        side.tree_node.push_back(node[r]);
        side.tree_count.push_back(forest.tree_count[e]);
      }
      if (at[x] < side.symbol_start.back()) {
        at[x] = static_cast<std::int64_t>(side.tree_symbol.size());
        side.tree_symbol.push_back(x);
        side.symbol_count.push_back(0);
      }
      side.symbol_count[at[x]] += forest.tree_count[e];
    }
    side.tree_start.push_back(static_cast<std::int64_t>(side.tree_node.size()));
    side.symbol_start.push_back(static_cast<std::int64_t>(side.tree_symbol.size()));
  }
  return side;
}

void add_occurrences(PartialPattern& pattern, bool per_tree) {
  const PartialSide &rows = pattern.rows, &cols = pattern.cols();
  std::vector<std::int64_t> node_place, symbol_place;
  pattern.nodes = node_occurrences(cols, per_tree, node_place);
  pattern.symbols =
      occurrences(pattern.n_symbols, cols.symbol_start, cols.tree_symbol, cols.symbol_count, per_tree, symbol_place);
  if (pattern.symmetric) {
    pattern.entry_end = std::move(node_place);
    pattern.symbol_end = std::move(symbol_place);
    return;
  }
  for (std::int32_t u : rows.tree_node) {
    pattern.entry_end.push_back(pattern.nodes.start[cols.bucket_start[rows.bucket[u] + 1]]);
  }
  for (std::int32_t x : rows.tree_symbol) pattern.symbol_end.push_back(pattern.symbols.start[x + 1]);
}

void add_terminal_matches(const PartialPattern& pattern, const PartialSide& other, PartialSide& side) {
  std::vector<std::int32_t> terminal(pattern.n_symbols, -1);  // by leaf: the last terminal node that has it
  side.match_start.assign(1, 0);
  for (std::int32_t p = 0; p < pattern.n_buckets; ++p) {
    const std::int64_t first = other.bucket_start[p];
    for (std::int64_t v = first; v < first + other.n_terminal[p]; ++v) {
      if (other.word[v] >= 0) terminal[other.word[v]] = static_cast<std::int32_t>(v);
    }
    for (std::int64_t run = side.bucket_run_start[p]; run < side.bucket_run_start[p + 1]; ++run) {
      const std::int32_t shape = side.run_shape[run];
      for (std::int64_t i = pattern.shape_start[shape]; i < pattern.shape_start[shape + 1]; ++i) {
        const std::int32_t x = pattern.shape_symbol[i];
        const bool is_leaf = x >= pattern.n_buckets;
        const std::int32_t leaf = x < 0 || is_leaf ? x : pattern.twin[x];
        if (leaf < 0 || terminal[leaf] < first) continue;
        side.match.push_back(terminal[leaf]);
        side.match_bucket.push_back(is_leaf ? -1 : x);
      }
      side.match_start.push_back(static_cast<std::int64_t>(side.match.size()));
    }
  }
}

void add_offsets(PartialPattern& pattern) {
  const PartialSide &rows = pattern.rows, &cols = pattern.cols();
  pattern.row_offset.resize(rows.n_nodes);
  pattern.row_first.resize(rows.n_nodes);
  pattern.partner.assign(rows.n_nodes, -1);
  std::vector<std::int64_t> terminal(pattern.n_symbols, -1);
  for (std::int32_t p = 0; p < pattern.n_buckets; ++p) {
    const std::int64_t first = cols.bucket_start[p];
    for (std::int64_t v = first; v < first + cols.n_terminal[p]; ++v) {
      if (cols.word[v] >= 0) terminal[cols.word[v]] = v;
    }
    for (std::int64_t u = rows.bucket_start[p]; u < rows.bucket_start[p + 1]; ++u) {
      const bool is_terminal = rows.is_terminal(u);
      if (is_terminal && rows.word[u] >= 0) {
        const std::int64_t v = terminal[rows.word[u]];
        if (v >= first && v < cols.bucket_start[p + 1]) pattern.partner[u] = v;
      }
      // Terminal rows meet terminal columns through `partner` alone.
      pattern.row_first[u] = is_terminal ? (pattern.symmetric ? pattern.row_end(u) : cols.n_terminal[p]) : 0;
      pattern.row_offset[u] = pattern.n_pairs - pattern.row_first[u];
      pattern.n_pairs += std::max<std::int64_t>(0, pattern.row_end(u) - pattern.row_first[u]);
    }
  }
}

}  // namespace

PartialPattern make_partial_pattern(const ForestView& a, const ForestView* b, bool per_tree, Listener& listener) {
  PartialPattern pattern;
  pattern.symmetric = b == nullptr;
  pattern.n_columns = per_tree ? 1 : (b ? b->n_trees : a.n_trees);
  KeyTable symbols(&listener), shapes(&listener);
  Collected rows = collect_subtrees(a, per_tree), columns;
  number_symbols(a, rows, symbols);
  if (b) {
    columns = collect_subtrees(*b, per_tree);
    number_symbols(*b, columns, symbols);
  }
  keep_common(pattern, symbols, rows, b ? &columns : nullptr);
  const std::int64_t n_nodes = rows.size() + columns.size();
  listener.step(n_nodes);
  pattern.rows = arrange(a, rows, pattern, shapes);
  listener.step(n_nodes);
  if (b) pattern.columns = arrange(*b, columns, pattern, shapes);
  listener.step(n_nodes);
  pattern.set_shapes(shapes);
  pattern.shape_label = pattern.shape_symbol;
  for (std::int32_t& x : pattern.shape_label) {
    if (x >= pattern.n_buckets && pattern.twin[x] >= 0) x = pattern.twin[x];
  }
  add_terminal_matches(pattern, pattern.cols(), pattern.rows);
  if (b) add_terminal_matches(pattern, pattern.rows, pattern.columns);
  listener.step(n_nodes);
  add_occurrences(pattern, per_tree);
  listener.step(n_nodes);
  add_offsets(pattern);
  return pattern;
}

}  // namespace espalier
