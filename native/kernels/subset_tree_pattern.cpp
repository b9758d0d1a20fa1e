#include "kernels/subset_tree_pattern.hpp"

#include <algorithm>

#include "corpus/key_table.hpp"
#include "corpus/sort_by_key.hpp"

namespace espalier {

namespace {

// The subtrees of one side before they are ordered: children first.
struct Raw {
  std::vector<std::int32_t> subtree, group, bucket, entry;
  std::vector<std::int64_t> child_start{0};
  std::vector<std::int32_t> child;  // inner children only
};

Raw collect(const ForestView& forest, PatternOptions options) {
  Raw raw;
  std::vector<std::int32_t> id(forest.n_subtrees, -1);
  const std::int64_t n_entries = forest.tree_start[forest.n_trees] - forest.tree_start[0];
  raw.entry.assign(n_entries, -1);
  const auto wanted = [&](std::int32_t u) { return options.leaves || !forest.is_leaf(u); };
  const auto add = [&](std::int32_t u, std::int32_t group) {
    id[u] = static_cast<std::int32_t>(raw.subtree.size());
    raw.subtree.push_back(u);
    raw.group.push_back(group);
    for (std::int64_t k = forest.child_start[u]; k < forest.child_start[u + 1]; ++k) {
      if (!forest.is_leaf(forest.child[k])) raw.child.push_back(id[forest.child[k]]);
    }
    raw.child_start.push_back(static_cast<std::int64_t>(raw.child.size()));
  };
  const std::int64_t first = forest.tree_start[0];
  if (options.per_tree) {
    for (std::int64_t t = 0; t < forest.n_trees; ++t) {
      for (std::int64_t e = forest.tree_start[t]; e < forest.tree_start[t + 1]; ++e) {
        if (!wanted(forest.tree_subtree[e])) continue;
        add(forest.tree_subtree[e], static_cast<std::int32_t>(t));
        raw.entry[e - first] = id[forest.tree_subtree[e]];
      }
    }
    return raw;
  }
  for (std::int64_t e = 0; e < n_entries; ++e) id[forest.tree_subtree[first + e]] = 0;
  for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {
    if (id[u] == 0 && wanted(u)) {
      add(u, 0);
    } else {
      id[u] = -1;
    }
  }
  for (std::int64_t e = 0; e < n_entries; ++e) raw.entry[e] = id[forest.tree_subtree[first + e]];
  return raw;
}

void number_buckets(const ForestView& forest, Raw& raw, PatternOptions options, KeyTable& table) {
  std::vector<std::int32_t> key;
  raw.bucket.resize(raw.subtree.size());
  for (std::size_t r = 0; r < raw.subtree.size(); ++r) {
    const std::int32_t u = raw.subtree[r];
    key.assign({forest.label[u], raw.group[r]});
    std::int64_t inner = raw.child_start[r];
    for (std::int64_t k = forest.child_start[u]; k < forest.child_start[u + 1]; ++k) {
      const std::int32_t v = forest.child[k];
      if (forest.is_leaf(v)) {
        key.push_back(2 * forest.label[v] + 1);
      } else {
        key.push_back(2 * (options.identity ? raw.bucket[raw.child[inner]] : forest.label[v]));
        ++inner;
      }
    }
    raw.bucket[r] = table.number(key);
  }
}

// Height by height, and within a height in the order of the last inner child.
std::vector<std::int32_t> reading_order(const ForestView& forest, const Raw& raw) {
  const auto n = static_cast<std::int32_t>(raw.subtree.size());
  std::int32_t top = 0;
  for (std::int32_t u : raw.subtree) top = std::max(top, forest.height[u]);
  std::vector<std::vector<std::int32_t>> level(top + 1);
  std::vector<std::int32_t> last(n);
  for (std::int32_t r = 0; r < n; ++r) {
    if (raw.child_start[r] == raw.child_start[r + 1]) {
      last[r] = n;
      level[forest.height[raw.subtree[r]]].push_back(r);
    } else {
      last[r] = raw.child[raw.child_start[r + 1] - 1];
    }
  }
  std::vector<std::int64_t> start;
  const std::vector<std::int32_t> parent = sort_by_key(last, n + 1, start);
  std::vector<std::int32_t> order;
  order.reserve(n);
  for (auto& here : level) {
    for (std::int32_t r : here) {
      order.push_back(r);
      for (std::int64_t k = start[r]; k < start[r + 1]; ++k) {
        level[forest.height[raw.subtree[parent[k]]]].push_back(parent[k]);
      }
    }
    here.clear();
    here.shrink_to_fit();
  }
  return order;
}

PatternSide arrange(const ForestView& forest, const Raw& raw, std::int32_t n_buckets,
                    const std::vector<std::int32_t>& arity) {
  PatternSide side;
  side.n_trees = forest.n_trees;
  std::vector<std::int32_t> kept, key;
  for (std::int32_t r : reading_order(forest, raw)) {
    if (raw.bucket[r] < 0) continue;
    kept.push_back(r);
    key.push_back(raw.bucket[r]);
  }
  side.n_nodes = static_cast<std::int64_t>(kept.size());
  const std::vector<std::int32_t> order = sort_by_key(key, n_buckets, side.bucket_start);
  std::vector<std::int32_t> node(raw.subtree.size(), -1);
  for (std::int64_t u = 0; u < side.n_nodes; ++u) node[kept[order[u]]] = static_cast<std::int32_t>(u);
  side.child_base.resize(n_buckets + 1, 0);
  for (std::int32_t p = 0; p < n_buckets; ++p) {
    side.child_base[p + 1] = side.child_base[p] + arity[p] * side.members(p);
  }
  side.child.resize(side.child_base[n_buckets]);
  side.bucket.resize(side.n_nodes);
  side.height.resize(side.n_nodes);
  for (std::int64_t u = 0; u < side.n_nodes; ++u) {
    const std::int32_t r = kept[order[u]], p = raw.bucket[r];
    side.bucket[u] = p;
    side.height[u] = forest.height[raw.subtree[r]];
    std::int32_t* to = side.child.data() + side.child_base[p] + (u - side.bucket_start[p]);
    for (std::int64_t k = raw.child_start[r]; k < raw.child_start[r + 1]; ++k, to += side.members(p)) {
      *to = node[raw.child[k]];
    }
  }
  const std::int64_t first = forest.tree_start[0];
  side.tree_start.assign(1, 0);
  for (std::int64_t t = 0; t < forest.n_trees; ++t) {
    for (std::int64_t e = forest.tree_start[t]; e < forest.tree_start[t + 1]; ++e) {
      const std::int32_t r = raw.entry[e - first];
      if (r < 0 || node[r] < 0) continue;
      side.tree_node.push_back(node[r]);
      side.tree_count.push_back(forest.tree_count[e]);
    }
    side.tree_start.push_back(static_cast<std::int64_t>(side.tree_node.size()));
  }
  return side;
}

// Keeps the buckets that both sides have, and numbers them anew.
std::int32_t keep_common(Raw& a, Raw* b, std::int32_t n_buckets) {
  std::vector<std::int32_t> number(n_buckets, 0);
  for (std::int32_t p : a.bucket) number[p] |= b ? 1 : 3;
  if (b) {
    for (std::int32_t p : b->bucket) number[p] |= 2;
  }
  std::int32_t n = 0;
  for (std::int32_t& p : number) p = p == 3 ? n++ : -1;
  for (std::int32_t& p : a.bucket) p = number[p];
  if (b) {
    for (std::int32_t& p : b->bucket) p = number[p];
  }
  return n;
}

void add_match_lists(Pattern& pattern) {
  const PatternSide &rows = pattern.rows, &cols = pattern.cols();
  pattern.row_child_start.resize(rows.n_nodes + 1, 0);
  for (std::int64_t u = 0; u < rows.n_nodes; ++u) {
    pattern.row_child_start[u + 1] = pattern.row_child_start[u] + pattern.arity[rows.bucket[u]];
  }
  pattern.row_list.assign(pattern.row_child_start[rows.n_nodes], -1);
  pattern.row_list_end.assign(pattern.row_list.size(), 0);
  pattern.row_ahead.assign(pattern.row_list.size(), 1);
  pattern.is_child.assign(pattern.n_buckets, 0);
  MatchLists& lists = pattern.lists;
  lists.start.assign(1, 0);
  lists.position.resize(cols.child.size());
  lists.child_position.resize(cols.child.size());
  std::vector<std::int32_t> list_of(pattern.n_buckets, -1);
  std::vector<std::int64_t> fill;
  std::vector<std::int32_t> furthest;
  for (std::int32_t p = 0; p < pattern.n_buckets; ++p) {
    for (std::int32_t i = 0; i < pattern.arity[p]; ++i) {
      const std::int32_t* child = cols.child.data() + cols.child_base[p] + i * cols.members(p);
      const auto first_list = static_cast<std::int32_t>(lists.bucket.size());
      fill.clear();
      furthest.clear();
      for (std::int64_t v = 0; v < cols.members(p); ++v) {
        if (child[v] < 0) continue;
        const std::int32_t q = cols.bucket[child[v]];
        if (list_of[q] < first_list) {
          list_of[q] = static_cast<std::int32_t>(lists.bucket.size());
          lists.bucket.push_back(q);
          fill.push_back(0);
          furthest.push_back(-1);
        }
        ++fill[list_of[q] - first_list];
      }
      for (std::int64_t& n : fill) {
        lists.start.push_back(lists.start.back() + n);
        n = lists.start[lists.start.size() - 2];
      }
      for (std::int64_t v = 0; v < cols.members(p); ++v) {
        if (child[v] < 0) continue;
        const std::int32_t q = cols.bucket[child[v]];
        const std::int64_t at = fill[list_of[q] - first_list]++;
        lists.position[at] = static_cast<std::int32_t>(v);
        lists.child_position[at] = static_cast<std::int32_t>(child[v] - cols.bucket_start[q]);
        if (pattern.symmetric) {
          std::int32_t& most = furthest[list_of[q] - first_list];
          most = std::max(most, lists.child_position[at]);
          const std::int64_t here = pattern.row_child_start[cols.bucket_start[p] + v] + i;
          pattern.row_list[here] = list_of[q];
          pattern.row_list_end[here] = at + 1;
          pattern.row_ahead[here] = most == lists.child_position[at];
          pattern.is_child[q] = 1;
        }
      }
      if (pattern.symmetric) continue;
      for (std::int64_t u = rows.bucket_start[p]; u < rows.bucket_start[p + 1]; ++u) {
        const std::int32_t a = rows.child_of(u, i);
        if (a < 0 || list_of[rows.bucket[a]] < first_list) continue;
        const std::int64_t here = pattern.row_child_start[u] + i;
        pattern.row_list[here] = list_of[rows.bucket[a]];
        pattern.row_list_end[here] = lists.start[pattern.row_list[here] + 1];
        pattern.is_child[rows.bucket[a]] = 1;
      }
    }
  }
}

void add_occurrences(Pattern& pattern, bool per_tree) {
  const PatternSide &rows = pattern.rows, &cols = pattern.cols();
  pattern.where_start.assign(cols.n_nodes + 1, 0);
  for (std::int32_t v : cols.tree_node) ++pattern.where_start[v + 1];
  for (std::int64_t v = 0; v < cols.n_nodes; ++v) pattern.where_start[v + 1] += pattern.where_start[v];
  std::vector<std::int64_t> at(pattern.where_start.begin(), pattern.where_start.end() - 1);
  const std::size_t n = cols.tree_node.size();
  pattern.where_tree.resize(n);
  pattern.where_position.resize(n);
  pattern.where_count.resize(n);
  pattern.unit.assign(pattern.n_buckets, 1);
  pattern.entry_end.resize(rows.tree_node.size());
  for (std::int64_t t = 0; t < cols.n_trees; ++t) {
    for (std::int64_t e = cols.tree_start[t]; e < cols.tree_start[t + 1]; ++e) {
      const std::int32_t v = cols.tree_node[e], p = cols.bucket[v];
      const std::int64_t to = at[v]++;
      pattern.where_tree[to] = per_tree ? 0 : static_cast<std::int32_t>(t);
      pattern.where_position[to] = static_cast<std::int32_t>(v - cols.bucket_start[p]);
      pattern.where_count[to] = cols.tree_count[e];
      if (cols.tree_count[e] != 1) pattern.unit[p] = 0;
      if (pattern.symmetric) pattern.entry_end[e] = to;
    }
  }
  if (pattern.symmetric) return;
  for (std::size_t e = 0; e < rows.tree_node.size(); ++e) {
    pattern.entry_end[e] = pattern.where_start[cols.bucket_start[rows.bucket[rows.tree_node[e]] + 1]];
  }
}

void add_offsets(Pattern& pattern) {
  const std::int64_t n = pattern.rows.n_nodes;
  pattern.row_start.resize(n + 1);
  pattern.kept_start.resize(n);
  for (std::int64_t u = 0; u < n; ++u) {
    pattern.row_start[u] = pattern.n_pairs;
    pattern.n_pairs += pattern.row_length(u);
    const bool kept = pattern.is_child[pattern.rows.bucket[u]];
    pattern.kept_start[u] = kept ? pattern.n_kept : -1;
    if (kept) pattern.n_kept += pattern.row_length(u);
  }
  pattern.row_start[n] = pattern.n_pairs;
}

void describe_buckets(Pattern& pattern, const ForestView& forest, const Raw& raw) {
  pattern.slot.assign(pattern.n_buckets, 0);
  pattern.arity.assign(pattern.n_buckets, -1);
  std::vector<std::int32_t> slot_of_label;
  for (std::size_t r = 0; r < raw.subtree.size(); ++r) {
    const std::int32_t p = raw.bucket[r];
    if (p < 0 || pattern.arity[p] >= 0) continue;
    pattern.arity[p] = static_cast<std::int32_t>(raw.child_start[r + 1] - raw.child_start[r]);
    const std::int32_t label = forest.label[raw.subtree[r]];
    if (forest.is_leaf(raw.subtree[r])) {
      pattern.slot[p] = -1;
      continue;
    }
    if (label >= static_cast<std::int32_t>(slot_of_label.size())) slot_of_label.resize(label + 1, -1);
    if (slot_of_label[label] < 0) {
      slot_of_label[label] = static_cast<std::int32_t>(pattern.labels.size());
      pattern.labels.push_back(label);
    }
    pattern.slot[p] = slot_of_label[label];
  }
  for (std::int32_t& slot : pattern.slot) {
    if (slot < 0) slot = static_cast<std::int32_t>(pattern.labels.size());
  }
}

}  // namespace

Pattern make_pattern(const ForestView& a, const ForestView* b, PatternOptions options, Listener& listener) {
  Pattern pattern;
  pattern.symmetric = b == nullptr;
  pattern.n_columns = options.per_tree ? 1 : (b ? b->n_trees : a.n_trees);
  KeyTable table(&listener);
  Raw rows = collect(a, options), columns;
  number_buckets(a, rows, options, table);
  if (b) {
    columns = collect(*b, options);
    number_buckets(*b, columns, options, table);
  }
  pattern.n_buckets = keep_common(rows, b ? &columns : nullptr, table.size());
  describe_buckets(pattern, a, rows);
  const std::int64_t n_nodes = std::ssize(rows.subtree) + std::ssize(columns.subtree);
  listener.step(n_nodes);
  pattern.rows = arrange(a, rows, pattern.n_buckets, pattern.arity);
  if (b) pattern.columns = arrange(*b, columns, pattern.n_buckets, pattern.arity);
  listener.step(n_nodes);
  add_match_lists(pattern);
  listener.step(n_nodes);
  add_occurrences(pattern, options.per_tree);
  listener.step(n_nodes);
  add_offsets(pattern);
  return pattern;
}

}  // namespace espalier
