#include "spaces/fragment_trie.hpp"

#include <algorithm>
#include <numeric>
#include <span>

#include "corpus/sort_by_key.hpp"

namespace espalier {
namespace {

constexpr std::uint64_t kFree = ~0ULL;

std::uint64_t key_of(std::int32_t node, std::int32_t production) {
  return (static_cast<std::uint64_t>(static_cast<std::uint32_t>(node)) << 32) | static_cast<std::uint32_t>(production);
}

std::uint32_t bit_of(std::int32_t production) { return 1U << (static_cast<std::uint32_t>(production) % 32); }

constexpr std::int64_t kBlock = 1024;  // subtrees of one task

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
  nodes_.emplace_back();
  starts_.assign(fragments.n_productions, 0);
  std::vector<std::int32_t> end(fragments.n_fragments), order(fragments.n_fragments);
  std::iota(order.begin(), order.end(), 0);
  // In the order of their codes, so that what is looked at together stands together in memory.
  std::sort(order.begin(), order.end(), [&](std::int32_t f, std::int32_t g) {
    const auto code = [&](std::int32_t k) {
      return std::span(fragments.code + fragments.start[k], fragments.code + fragments.start[k + 1]);
    };
    return std::ranges::lexicographical_compare(code(f), code(g));
  });
  for (const std::int32_t f : order) {
    std::int32_t node = 0;
    starts_[fragments.code[fragments.start[f]]] = 1;
    for (std::int64_t k = fragments.start[f]; k < fragments.start[f + 1]; ++k) {
      if (fragments.code[k] >= 0) {
        node = add_child(node, fragments.code[k]);
        continue;
      }
      if (nodes_[node].closed == kNone) {
        nodes_[node].closed = static_cast<std::int32_t>(nodes_.size());
        nodes_.emplace_back();
      }
      node = nodes_[node].closed;
    }
    end[f] = node;
  }
  ends_ = sort_by_key(end, std::ssize(nodes_), ends_start_);
}

std::int32_t FragmentTrie::child(std::int32_t node, std::int32_t production) const {
  const Node& from = nodes_[node];
  if (from.production == production) return from.child;
  if (from.only || !(from.expands & bit_of(production))) return kNone;
  const Edge& edge = edges_[place(key_of(node, production))];
  return edge.key == kFree ? kNone : edge.child;
}

std::int32_t FragmentTrie::add_child(std::int32_t node, std::int32_t production) {
  const std::int32_t known = child(node, production);
  if (known != kNone) return known;
  if (2 * (n_edges_ + 1) > std::ssize(edges_)) grow();
  const auto made = static_cast<std::int32_t>(nodes_.size());
  nodes_.emplace_back();
  Node& from = nodes_[node];
  if (from.expands == 0) {
    from.production = production;
    from.child = made;
  } else {
    from.only = false;
  }
  from.expands |= bit_of(production);
  const std::uint64_t key = key_of(node, production);
  edges_[place(key)] = {key, made};
  ++n_edges_;
  return made;
}

// Where an edge stands, or the free place where it would.
std::size_t FragmentTrie::place(std::uint64_t key) const {
  const std::size_t mask = edges_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(hasher_(key)) & mask;
  while (edges_[slot].key != key && edges_[slot].key != kFree) slot = (slot + 1) & mask;
  return slot;
}

void FragmentTrie::grow() {
  std::vector<Edge> old(edges_.empty() ? 1024 : 2 * edges_.size(), Edge{kFree, kNone});
  old.swap(edges_);
  for (const Edge& edge : old) {
    if (edge.key != kFree) edges_[place(edge.key)] = edge;
  }
}

// Children stand before parents.
FragmentTrie::Known FragmentTrie::known_of(const ForestView& forest, const std::int32_t* label_of) const {
  std::vector<std::int32_t> key;
  Known out{std::vector<std::int32_t>(forest.n_subtrees, kNone), std::vector<Children>(forest.n_subtrees), {}};
  const std::vector<char> used = used_subtrees(forest);
  for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {
    const std::int32_t label = label_of[forest.label[u]];
    bool known = used[u] && label >= 0;
    key.assign(1, forest.is_leaf(u) ? -1 - label : label);
    for (std::int64_t c = forest.child_start[u]; known && c < forest.child_start[u + 1]; ++c) {
      const std::int32_t child = forest.child[c], child_label = label_of[forest.label[child]];
      known = child_label >= 0;
      key.push_back(2 * child_label + (forest.is_leaf(child) ? 1 : 0));
    }
    if (known) out.production[u] = productions_.find(key);
    if (out.production[u] < 0) continue;
    Children& own = out.children[u];
    own.others = static_cast<std::int32_t>(out.others.size());
    for (std::int64_t c = forest.child_start[u + 1]; c-- > forest.child_start[u];) {
      const std::int32_t child = forest.child[c];
      if (forest.is_leaf(child)) continue;
      const Place place{child, out.production[child]};
      if (own.n < 2) {
        own.first[own.n] = place;
      } else {
        out.others.push_back(place);
      }
      ++own.n;
    }
  }
  return out;
}

// Calls visit(node of the trie) for all nodes where the decisions of a way down from the subtree end.
template <class Visit>
void FragmentTrie::walk(const Known& known, std::int32_t u, Scratch& scratch, const Visit& visit) const {
  std::vector<Agenda>& cells = scratch.cells;
  std::vector<State>& states = scratch.states;
  cells.assign(1, {{u, known.production[u]}, kNone});
  State state{0, 0};
  for (;;) {
    bool ends = state.agenda < 0;
    if (ends) {
      visit(state.trie);
    } else {
      if (++scratch.looked % 65536 == 0) scratch.team.breathe(scratch.worker);
      const Agenda top = cells[state.agenda];
      const std::int32_t closed = nodes_[state.trie].closed;
      const std::int32_t next = top.node.production < 0 ? kNone : child(state.trie, top.node.production);
      if (next != kNone) {
        if (closed != kNone) states.push_back({closed, top.next});
        state = {next, top.next};
        const Children& children = known.children[top.node.subtree];
        for (std::int32_t c = 0; c < children.n; ++c) {
          cells.push_back({c < 2 ? children.first[c] : known.others[children.others + c - 2], state.agenda});
          state.agenda = static_cast<std::int32_t>(cells.size()) - 1;
        }
      } else {
        ends = closed == kNone;
        state = {closed, top.next};
      }
    }
    if (!ends) continue;
    if (states.empty()) return;
    state = states.back();
    states.pop_back();
  }
}

// Calls visit(block, subtree, node of the trie) for all subtrees of the forest, a block of them at a time.
template <class Visit, class Done>
void FragmentTrie::walk_all(const ForestView& forest, const std::int32_t* label_of, Team& team, const Visit& visit,
                            const Done& done) const {
  const Known known = known_of(forest, label_of);
  team.run((forest.n_subtrees + kBlock - 1) / kBlock, [&](std::int64_t block, int worker) {
    Scratch scratch{team, worker};
    const auto last = std::min(forest.n_subtrees, (block + 1) * kBlock);
    for (auto u = static_cast<std::int32_t>(block * kBlock); u < last; ++u) {
      if (known.production[u] >= 0 && starts_[known.production[u]]) {
        walk(known, u, scratch, [&](std::int32_t node) { visit(block, u, node); });
      }
      done(block, u);
    }
  });
}

Matches FragmentTrie::match(const ForestView& forest, const std::int32_t* label_of, Team& team) const {
  std::vector<std::vector<std::int32_t>> found((forest.n_subtrees + kBlock - 1) / kBlock);
  Matches out;
  out.start.assign(forest.n_subtrees + 1, 0);
  walk_all(
      forest, label_of, team,
      [&](std::int64_t block, std::int32_t u, std::int32_t node) {
        found[block].insert(found[block].end(), ends_.begin() + ends_start_[node],
                            ends_.begin() + ends_start_[node + 1]);
        out.start[u + 1] += ends_start_[node + 1] - ends_start_[node];
      },
      [&](std::int64_t block, std::int32_t u) {
        std::sort(found[block].end() - out.start[u + 1], found[block].end());
      });
  for (std::int64_t u = 0; u < forest.n_subtrees; ++u) out.start[u + 1] += out.start[u];
  out.fragment.reserve(out.start.back());
  for (const auto& block : found) out.fragment.insert(out.fragment.end(), block.begin(), block.end());
  return out;
}

void FragmentTrie::score(const ForestView& forest, const std::int32_t* label_of, const double* weight, std::int64_t n,
                         Team& team, double* out) const {
  std::vector<double> of_node(nodes_.size() * n, 0.0), of_subtree(forest.n_subtrees * n, 0.0);
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    for (std::int64_t e = ends_start_[node]; e < ends_start_[node + 1]; ++e) {
      for (std::int64_t k = 0; k < n; ++k) of_node[node * n + k] += weight[ends_[e] * n + k];
    }
  }
  walk_all(
      forest, label_of, team,
      [&](std::int64_t, std::int32_t u, std::int32_t node) {
        for (std::int64_t k = 0; k < n; ++k) of_subtree[u * n + k] += of_node[node * n + k];
      },
      [](std::int64_t, std::int32_t) {});
  for (std::int64_t tree = 0; tree < forest.n_trees; ++tree) {
    double* sum = out + tree * n;
    std::fill(sum, sum + n, 0.0);
    for (std::int64_t e = forest.tree_start[tree]; e < forest.tree_start[tree + 1]; ++e) {
      const double* own = of_subtree.data() + static_cast<std::int64_t>(forest.tree_subtree[e]) * n;
      for (std::int64_t k = 0; k < n; ++k) sum[k] += forest.tree_count[e] * own[k];
    }
  }
}

}  // namespace espalier
