#include "kernels/partial_tree_pattern.hpp"

#include <algorithm>

#include "corpus/key_table.hpp"
#include "corpus/sort_by_key.hpp"
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
  std::vector<std::int32_t> slot_of_label;
  pattern.slot.resize(pattern.n_buckets);
  for (std::int32_t x = 0; x < table.size(); ++x) {
    const std::int32_t label = table.pool()[table.starts()[x]] / 2, p = number[x];
    if (p < 0 || p >= pattern.n_buckets) continue;
    if (label >= static_cast<std::int32_t>(slot_of_label.size())) slot_of_label.resize(label + 1, -1);
    if (slot_of_label[label] < 0) {
      slot_of_label[label] = static_cast<std::int32_t>(pattern.labels.size());
      pattern.labels.push_back(label);
    }
    pattern.slot[p] = slot_of_label[label];
  }
  for (std::int32_t& x : a.symbol) x = number[x];
  if (b) {
    for (std::int32_t& x : b->symbol) x = number[x];
  }
}

void arrange_nodes(const ForestView& forest, const Collected& raw, std::int32_t n_buckets, KeyTable& shapes,
                   PartialSide& side, std::vector<std::int32_t>& node) {
  struct Item {
    std::int32_t raw, bucket, height, shape, word;
  };
  std::vector<Item> items;
  std::vector<std::int32_t> key;
  Children children(forest, raw);
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(raw.subtree.size()); ++r) {
    const std::int32_t u = raw.subtree[r];
    if (forest.is_leaf(u) || raw.symbol[r] < 0) continue;
    key.clear();
    children.visit(r, [&](std::int32_t c) { key.push_back(raw.symbol[c]); });
    const bool terminal = key.size() == 1 && forest.is_leaf(forest.child[forest.child_start[u]]);
    items.push_back({r, raw.symbol[r], terminal ? 0 : forest.height[u], terminal ? -1 : shapes.number(key),
                     terminal ? key[0] : -1});
  }
  std::stable_sort(items.begin(), items.end(), [](const Item& x, const Item& y) {
    if (x.bucket != y.bucket) return x.bucket < y.bucket;
    if (x.height != y.height) return x.height < y.height;
    return x.shape < y.shape;
  });
  side.n_nodes = static_cast<std::int64_t>(items.size());
  side.bucket_start.assign(n_buckets + 1, 0);
  side.n_terminal.assign(n_buckets, 0);
  node.assign(raw.subtree.size(), -1);
  std::vector<std::int64_t> runs(n_buckets, 0);
  for (std::int64_t u = 0; u < side.n_nodes; ++u) {
    const Item& item = items[u];
    node[item.raw] = static_cast<std::int32_t>(u);
    ++side.bucket_start[item.bucket + 1];
    side.bucket.push_back(item.bucket);
    side.word.push_back(item.word);
    if (item.shape < 0) {
      ++side.n_terminal[item.bucket];
      continue;
    }
    const bool same = u > 0 && items[u - 1].bucket == item.bucket && items[u - 1].height == item.height &&
                      items[u - 1].shape == item.shape;
    if (!same) {
      side.run_start.push_back(u);
      side.run_size.push_back(0);
      side.run_shape.push_back(item.shape);
      side.run_height.push_back(item.height);
      side.run_bucket.push_back(item.bucket);
      ++runs[item.bucket];
    }
    ++side.run_size.back();
  }
  side.bucket_run_start.assign(n_buckets + 1, 0);
  for (std::int32_t p = 0; p < n_buckets; ++p) {
    side.bucket_start[p + 1] += side.bucket_start[p];
    side.bucket_run_start[p + 1] = side.bucket_run_start[p] + runs[p];
  }
  side.run_child.assign(1, 0);
  for (std::size_t run = 0; run < side.run_start.size(); ++run) {
    const std::int32_t u = raw.subtree[items[side.run_start[run]].raw];
    side.run_child.push_back(side.run_child.back() +
                             side.run_size[run] * (forest.child_start[u + 1] - forest.child_start[u]));
  }
  side.child.assign(side.run_child.back(), -2);
  std::vector<std::int32_t> run_of(side.n_nodes, -1);
  for (std::size_t run = 0; run < side.run_start.size(); ++run) {
    for (std::int32_t k = 0; k < side.run_size[run]; ++k)
      run_of[side.run_start[run] + k] = static_cast<std::int32_t>(run);
  }
  Children again(forest, raw);
  for (std::int32_t r = 0; r < static_cast<std::int32_t>(raw.subtree.size()); ++r) {
    if (node[r] < 0 || run_of[node[r]] < 0) continue;
    const std::int32_t run = run_of[node[r]];
    std::int64_t to = side.run_child[run] + (node[r] - side.run_start[run]);
    again.visit(r, [&](std::int32_t c) {
      side.child[to] = forest.is_leaf(raw.subtree[c]) ? -1 : (node[c] < 0 ? -2 : node[c]);
      to += side.run_size[run];
    });
  }
}

PartialSide arrange(const ForestView& forest, const Collected& raw, const PartialPattern& pattern, KeyTable& shapes) {
  PartialSide side;
  side.n_trees = forest.n_trees;
  std::vector<std::int32_t> node;
  arrange_nodes(forest, raw, pattern.n_buckets, shapes, side, node);
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

void add_occurrences(PartialPattern& pattern, bool per_tree) {
  const PartialSide &rows = pattern.rows, &cols = pattern.cols();
  std::vector<std::int64_t> node_place, symbol_place;
  pattern.nodes = occurrences(cols.n_nodes, cols.tree_start, cols.tree_node, cols.tree_count, per_tree, node_place);
  pattern.symbols =
      occurrences(pattern.n_symbols, cols.symbol_start, cols.tree_symbol, cols.symbol_count, per_tree, symbol_place);
  for (std::int64_t v = 0; v < cols.n_nodes; ++v) {
    for (std::int64_t e = pattern.nodes.start[v]; e < pattern.nodes.start[v + 1]; ++e) {
      pattern.nodes.position.push_back(static_cast<std::int32_t>(cols.position(v)));
    }
  }
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
  for (std::size_t shape = 0; shape + 1 < pattern.shape_start.size(); ++shape) {
    pattern.widest = std::max(pattern.widest, pattern.arity(static_cast<std::int32_t>(shape)));
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
  pattern.shape_start = shapes.starts();
  pattern.shape_symbol = shapes.pool();
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
