#include "fragment_trie.hpp"

#include <algorithm>

namespace espalier {
namespace {

constexpr std::uint64_t kFree = ~0ULL;

std::uint64_t key_of(std::int32_t node, std::int32_t production) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(node)) << 32) | static_cast<std::uint32_t>(production);
}

std::size_t slot_of(std::uint64_t key, std::size_t mask) {
  key *= 0x9E3779B97F4A7C15ULL;
  return static_cast<std::size_t>(key ^ (key >> 32)) & mask;
}

// The tree nodes that still need a decision: a list that many states of the search share.
struct Agenda {
  std::int32_t node, next;
};

struct State {
  std::int32_t trie, agenda;  // -1 where nothing is left to decide
};

}  // namespace

std::vector<std::int64_t> code_parents(const FragmentCodes& fragments) {
  std::vector<std::int64_t> out(fragments.start[fragments.n_fragments]);
  std::vector<std::int64_t> above;  // of the nodes that still need a decision, the next one last
  for (std::int64_t f = 0; f < fragments.n_fragments; ++f) {
    above.assign(1, -1);
    for (std::int64_t k = fragments.start[f]; k < fragments.start[f + 1] && !above.empty(); ++k) {
      out[k] = above.back();
      above.pop_back();
      const std::int32_t p = fragments.code[k];
      if (p < 0) continue;
      for (std::int64_t c = fragments.production_start[p] + 1; c < fragments.production_start[p + 1]; ++c) {
        if (fragments.production_part[c] % 2 == 0) above.push_back(k);
      }
    }
  }
  return out;
}

FragmentTrie::FragmentTrie(const FragmentCodes& fragments) {
  std::vector<std::int32_t> key;
  for (std::int64_t p = 0; p < fragments.n_productions; ++p) {
    key.assign(fragments.production_part + fragments.production_start[p],
               fragments.production_part + fragments.production_start[p + 1]);
    productions_.number(key);  // is p: no production comes twice
  }
  grow();
  closed_.push_back(kNone);
  std::vector<std::int32_t> end(fragments.n_fragments);
  for (std::int64_t f = 0; f < fragments.n_fragments; ++f) {
    std::int32_t node = 0;
    for (std::int64_t k = fragments.start[f]; k < fragments.start[f + 1]; ++k) {
      if (fragments.code[k] >= 0) {
        node = add_child(node, fragments.code[k]);
        continue;
      }
      if (closed_[node] == kNone) {
        closed_[node] = static_cast<std::int32_t>(closed_.size());
        closed_.push_back(kNone);
      }
      node = closed_[node];
    }
    end[f] = node;
  }
  ends_ = sort_by_key(end, std::ssize(closed_), ends_start_);
}

std::int32_t FragmentTrie::child(std::int32_t node, std::int32_t production) const {
  const std::uint64_t key = key_of(node, production);
  const std::size_t mask = keys_.size() - 1;
  for (std::size_t slot = slot_of(key, mask);; slot = (slot + 1) & mask) {
    if (keys_[slot] == key) return children_[slot];
    if (keys_[slot] == kFree) return kNone;
  }
}

std::int32_t FragmentTrie::add_child(std::int32_t node, std::int32_t production) {
  const std::int32_t known = child(node, production);
  if (known != kNone) return known;
  if (2 * (n_edges_ + 1) > std::ssize(keys_)) grow();
  const auto made = static_cast<std::int32_t>(closed_.size());
  closed_.push_back(kNone);
  const std::uint64_t key = key_of(node, production);
  const std::size_t mask = keys_.size() - 1;
  std::size_t slot = slot_of(key, mask);
  while (keys_[slot] != kFree) slot = (slot + 1) & mask;
  keys_[slot] = key;
  children_[slot] = made;
  ++n_edges_;
  return made;
}

void FragmentTrie::grow() {
  std::vector<std::uint64_t> keys(keys_.empty() ? 1024 : 2 * keys_.size(), kFree);
  std::vector<std::int32_t> children(keys.size(), kNone);
  const std::size_t mask = keys.size() - 1;
  for (std::size_t old = 0; old < keys_.size(); ++old) {
    if (keys_[old] == kFree) continue;
    std::size_t slot = slot_of(keys_[old], mask);
    while (keys[slot] != kFree) slot = (slot + 1) & mask;
    keys[slot] = keys_[old];
    children[slot] = children_[old];
  }
  keys_.swap(keys);
  children_.swap(children);
}

// The productions of the forest's subtrees by the fragments' numbers; -1 where no fragment has them.
std::vector<std::int32_t> FragmentTrie::productions_of(const ForestView& forest, const std::int32_t* label_of) const {
  std::vector<std::int32_t> key;
  std::vector<std::int32_t> out(forest.n_subtrees, -1);
  for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {
    const std::int32_t label = label_of[forest.label[u]];
    bool known = label >= 0;
    key.assign(1, forest.is_leaf(u) ? -1 - label : label);
    for (std::int64_t c = forest.child_start[u]; known && c < forest.child_start[u + 1]; ++c) {
      const std::int32_t child = forest.child[c], child_label = label_of[forest.label[child]];
      known = child_label >= 0;
      key.push_back(2 * child_label + (forest.is_leaf(child) ? 1 : 0));
    }
    if (known) out[u] = productions_.find(key);
  }
  return out;
}

Matches FragmentTrie::match(const ForestView& forest, const std::int32_t* label_of, Team& team) const {
  const std::vector<std::int32_t> production = productions_of(forest, label_of);
  std::vector<char> used(forest.n_subtrees, 0);
  for (std::int64_t e = 0; e < forest.tree_start[forest.n_trees]; ++e) used[forest.tree_subtree[e]] = 1;
  constexpr std::int64_t kBlock = 1024;  // subtrees of one task
  const std::int64_t n_blocks = (forest.n_subtrees + kBlock - 1) / kBlock;
  std::vector<std::vector<std::int32_t>> found(n_blocks);
  Matches out;
  out.start.assign(forest.n_subtrees + 1, 0);
  team.run(n_blocks, [&](std::int64_t block, int worker) {
    std::vector<Agenda> cells;
    std::vector<State> states;
    const auto last = std::min(forest.n_subtrees, (block + 1) * kBlock);
    for (auto u = static_cast<std::int32_t>(block * kBlock); u < last; ++u) {
      const std::size_t before = found[block].size();
      if (used[u] && production[u] >= 0) {
        cells.assign(1, {u, -1});
        states.assign(1, {0, 0});
      }
      std::int64_t looked = 0;
      while (!states.empty()) {
        if (++looked % 65536 == 0) team.breathe(worker);
        const State state = states.back();
        states.pop_back();
        if (state.agenda < 0) {
          for (std::int64_t e = ends_start_[state.trie]; e < ends_start_[state.trie + 1]; ++e) {
            found[block].push_back(ends_[e]);
          }
          continue;
        }
        const Agenda top = cells[state.agenda];
        if (closed_[state.trie] != kNone) states.push_back({closed_[state.trie], top.next});
        if (production[top.node] < 0) continue;
        const std::int32_t next = child(state.trie, production[top.node]);
        if (next == kNone) continue;
        std::int32_t agenda = top.next;
        for (std::int64_t c = forest.child_start[top.node + 1]; c-- > forest.child_start[top.node];) {
          if (forest.is_leaf(forest.child[c])) continue;
          cells.push_back({forest.child[c], agenda});
          agenda = static_cast<std::int32_t>(cells.size()) - 1;
        }
        states.push_back({next, agenda});
      }
      std::sort(found[block].begin() + static_cast<std::ptrdiff_t>(before), found[block].end());
      out.start[u + 1] = std::ssize(found[block]) - static_cast<std::int64_t>(before);
    }
  });
  for (std::int64_t u = 0; u < forest.n_subtrees; ++u) out.start[u + 1] += out.start[u];
  out.fragment.reserve(out.start.back());
  for (const auto& block : found) out.fragment.insert(out.fragment.end(), block.begin(), block.end());
  return out;
}

}  // namespace espalier
