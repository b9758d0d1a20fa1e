#include "corpus/intern.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "structures/brackets.hpp"

namespace espalier {

std::int64_t Interner::add_text(std::string_view text) {
  const std::size_t before = root_.size();
  frames_.clear();
  stack_.clear();
  try {
    read_brackets(text, *this);
  } catch (...) {
    // What was counted of the tree that broke off belongs to no tree.
    tree_subtree_.resize(tree_start_.back());
    tree_count_.resize(tree_start_.back());
    throw;
  }
  return static_cast<std::int64_t>(root_.size() - before);
}

void Interner::close() {
  const Frame frame = frames_.back();
  frames_.pop_back();
  const std::int64_t n = static_cast<std::int64_t>(stack_.size()) - frame.first;
  const std::int32_t node = n == 0 ? leaf_node(frame.label) : inner_node(frame.label, stack_.data() + frame.first, n);
  stack_.resize(frame.first);
  push(node);
}

void Interner::tree() {
  end_tree(stack_.back());
  stack_.clear();
}

void Interner::end_tree(std::int32_t root) {
  tree_start_.push_back(static_cast<std::int64_t>(tree_subtree_.size()));
  try {
    root_.push_back(root);
  } catch (...) {
    tree_start_.pop_back();
    throw;
  }
}

void Interner::add_missing() { end_tree(-1); }

void Interner::count(std::int32_t node) {
  const std::int64_t at = seen_at_[node];
  if (at >= tree_start_.back() && at < static_cast<std::int64_t>(tree_subtree_.size()) && tree_subtree_[at] == node) {
    if (tree_count_[at] == std::numeric_limits<std::int32_t>::max()) {
      throw std::overflow_error("a subtree occurs more than 2,147,483,647 times in one tree");
    }
    ++tree_count_[at];
    return;
  }
  seen_at_[node] = static_cast<std::int64_t>(tree_subtree_.size());
  tree_subtree_.push_back(node);
  tree_count_.push_back(1);
}

std::int32_t Interner::leaf_node(std::int32_t label) {
  if (label >= static_cast<std::int32_t>(leaf_of_label_.size())) {
    leaf_of_label_.resize(std::max<std::size_t>(label + 1, 2 * leaf_of_label_.size()), -1);
  }
  if (leaf_of_label_[label] < 0) leaf_of_label_[label] = new_node(label, nullptr, 0, 0);
  return leaf_of_label_[label];
}

std::int32_t Interner::inner_node(std::int32_t label, const std::int32_t* child, std::int64_t n) {
  if (2 * (n_inner_ + 1) > static_cast<std::int64_t>(slots_.size())) grow();
  const auto hash = static_cast<std::uint32_t>(hasher_(label, child, n));
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash & mask;
  for (; slots_[slot] >= 0; slot = (slot + 1) & mask) {
    const std::int32_t node = slots_[slot];
    if (hash_[node] == hash && label_[node] == label && child_start_[node + 1] - child_start_[node] == n &&
        std::equal(child, child + n, child_.data() + child_start_[node])) {
      return node;
    }
  }
  std::int32_t height = 0;
  for (std::int64_t k = 0; k < n; ++k) height = std::max(height, height_[child[k]]);
  const std::int32_t node = new_node(label, child, n, height + 1);
  hash_[node] = hash;
  slots_[slot] = node;
  ++n_inner_;
  return node;
}

std::int32_t Interner::new_node(std::int32_t label, const std::int32_t* child, std::int64_t n, std::int32_t height) {
  if (label_.size() >= static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max())) {
    throw std::overflow_error("a corpus holds at most 2,147,483,647 distinct subtrees");
  }
  const auto node = static_cast<std::int32_t>(label_.size());
  const std::size_t n_children = child_.size();
  try {
    label_.push_back(label);
    height_.push_back(height);
    child_.insert(child_.end(), child, child + n);
    child_start_.push_back(static_cast<std::int64_t>(child_.size()));
    hash_.push_back(0);
    seen_at_.push_back(-1);
  } catch (...) {
    // All or none: text that failed leaves an interner that goes on.
    label_.resize(node);
    height_.resize(node);
    child_.resize(n_children);
    child_start_.resize(node + 1);
    hash_.resize(node);
    seen_at_.resize(node);
    throw;
  }
  return node;
}

void Interner::grow() {
  slots_.assign(slots_.empty() ? 4096 : 2 * slots_.size(), -1);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t node = 0; node < label_.size(); ++node) {
    if (height_[node] == 0) continue;
    std::size_t slot = hash_[node] & mask;
    while (slots_[slot] >= 0) slot = (slot + 1) & mask;
    slots_[slot] = static_cast<std::int32_t>(node);
  }
}

std::vector<std::int32_t> Interner::add_subtrees(const std::int32_t* label, const std::int64_t* child_start,
                                                 const std::int32_t* child, std::int64_t n) {
  std::vector<std::int32_t> ids(n);
  std::vector<std::int32_t> here;
  for (std::int64_t u = 0; u < n; ++u) {
    here.clear();
    for (std::int64_t k = child_start[u]; k < child_start[u + 1]; ++k) here.push_back(ids[child[k]]);
    listen(child_start[u + 1] - child_start[u] + 1);
    ids[u] =
        here.empty() ? leaf_node(label[u]) : inner_node(label[u], here.data(), static_cast<std::int64_t>(here.size()));
  }
  return ids;
}

void Interner::add_root(std::int32_t root) {
  const std::int64_t first = tree_start_.back();
  try {
    count_below(root, first);
  } catch (...) {
    tree_subtree_.resize(first);
    tree_count_.resize(first);
    throw;
  }
  end_tree(root);
}

// Counts flow from the root down; ids fall along every path, so a heap visits parents first.
void Interner::count_below(std::int32_t root, std::int64_t first) {
  std::vector<std::int32_t> heap{root};
  seen_at_[root] = first;
  tree_subtree_.push_back(root);
  tree_count_.push_back(1);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const std::int32_t u = heap.back();
    heap.pop_back();
    listen(child_start_[u + 1] - child_start_[u] + 1);
    const std::int64_t weight = tree_count_[seen_at_[u]];
    for (std::int64_t k = child_start_[u]; k < child_start_[u + 1]; ++k) {
      const std::int32_t v = child_[k];
      std::int64_t& at = seen_at_[v];
      if (at < first || at >= static_cast<std::int64_t>(tree_subtree_.size()) || tree_subtree_[at] != v) {
        at = static_cast<std::int64_t>(tree_subtree_.size());
        tree_subtree_.push_back(v);
        tree_count_.push_back(0);
        heap.push_back(v);
        std::push_heap(heap.begin(), heap.end());
      }
      if (tree_count_[at] > std::numeric_limits<std::int32_t>::max() - weight) {
        throw std::overflow_error("a subtree occurs more than 2,147,483,647 times in one tree");
      }
      tree_count_[at] += static_cast<std::int32_t>(weight);
    }
  }
}

ForestArrays Interner::finish() {
  const std::size_t n = label_.size();
  std::int32_t top = 0;
  for (std::int32_t height : height_) top = std::max(top, height);
  std::vector<std::int32_t> next(top + 2, 0);
  for (std::int32_t height : height_) ++next[height + 1];
  for (std::int32_t height = 0; height <= top; ++height) next[height + 1] += next[height];
  std::vector<std::int32_t> rank(n);
  for (std::size_t u = 0; u < n; ++u) rank[u] = next[height_[u]]++;

  ForestArrays out;
  out.label.resize(n);
  out.height.resize(n);
  out.child_start.assign(n + 1, 0);
  out.child.resize(child_.size());
  for (std::size_t u = 0; u < n; ++u) {
    out.label[rank[u]] = label_[u];
    out.height[rank[u]] = height_[u];
    out.child_start[rank[u] + 1] = child_start_[u + 1] - child_start_[u];
  }
  for (std::size_t u = 0; u < n; ++u) out.child_start[u + 1] += out.child_start[u];
  for (std::size_t u = 0; u < n; ++u) {
    std::int32_t* to = out.child.data() + out.child_start[rank[u]];
    for (std::int64_t k = child_start_[u]; k < child_start_[u + 1]; ++k) *to++ = rank[child_[k]];
  }
  out.root.resize(root_.size());
  for (std::size_t t = 0; t < root_.size(); ++t) out.root[t] = root_[t] < 0 ? -1 : rank[root_[t]];
  // Each tree lists its subtrees in ascending order: sort by subtree, then deal them out to their trees.
  const std::size_t n_entries = tree_subtree_.size();
  std::vector<std::int64_t> where(n + 1, 0);
  for (std::int32_t u : tree_subtree_) ++where[rank[u] + 1];
  for (std::size_t u = 0; u < n; ++u) where[u + 1] += where[u];
  std::vector<std::int32_t> tree(n_entries), count(n_entries), subtree(n_entries);
  for (std::size_t t = 0; t < root_.size(); ++t) {
    for (std::int64_t e = tree_start_[t]; e < tree_start_[t + 1]; ++e) {
      const std::int32_t u = rank[tree_subtree_[e]];
      const std::int64_t to = where[u]++;
      tree[to] = static_cast<std::int32_t>(t);
      count[to] = tree_count_[e];
      subtree[to] = u;
    }
  }
  out.tree_subtree.resize(n_entries);
  out.tree_count.resize(n_entries);
  std::vector<std::int64_t> at(tree_start_.begin(), tree_start_.end() - 1);
  for (std::size_t e = 0; e < n_entries; ++e) {
    const std::int64_t to = at[tree[e]]++;
    out.tree_subtree[to] = subtree[e];
    out.tree_count[to] = count[e];
  }
  out.tree_start = tree_start_;
  return out;
}

namespace {

struct PostOrderSink {
  PostOrder out;
  Vocabulary& vocabulary;
  Listener listener;
  struct Frame {
    std::int32_t label, n_children;
  };
  std::vector<Frame> frames;

  void add(std::int32_t label, std::int32_t n) {
    out.label.push_back(label);
    out.n_children.push_back(n);
    if (!frames.empty()) ++frames.back().n_children;
  }
  void open() { frames.push_back({0, 0}); }
  void name(std::string_view label) { frames.back().label = vocabulary.add(label); }
  void leaf(std::string_view label) { add(vocabulary.add(label), 0); }
  void close() {
    const Frame frame = frames.back();
    frames.pop_back();
    add(frame.label, frame.n_children);
  }
  void listen(std::int64_t n) { listener.step(n); }
  void tree() { out.tree_end.push_back(static_cast<std::int64_t>(out.label.size())); }
};

}  // namespace

PostOrder post_order(std::string_view text, Vocabulary& vocabulary, const Listener& listener) {
  PostOrderSink sink{{}, vocabulary, listener, {}};
  read_brackets(text, sink);
  return std::move(sink.out);
}

}  // namespace espalier
