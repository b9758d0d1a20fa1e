// Partial fragments as they grow: the ways in which a fragment stands in trees, by the nodes that can still grow.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "corpus/hashing.hpp"
#include "spaces/partial_tree_mining.hpp"

namespace espalier::partial {

// A node on the right edge of a fragment, in a tree: its subtree, and the child that the fragment uses last.
struct Edge {
  std::int32_t node, last;
};

// A fragment and the ways in which it stands in trees, by the right edges that can still grow. Ways that share the
// right edge are added up.
struct Branch {
  Code code;
  std::int32_t depth = 0, size = 1;  // of the last node; nodes in all
  std::vector<double> mass;          // by way: the tree's mass times the weight so far, without the last node's decay
  std::vector<double> count;         // likewise in the one tree that is looked at; empty where there is none
  std::vector<Edge> edge;            // by way, depth + 1 each
  double bound = 0.0;

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof(Branch) + 4 * code.capacity() + 8 * (mass.capacity() + count.capacity()) +
                                     sizeof(Edge) * edge.capacity());
  }
  // Whether a way makes the fragment worth a look: any way, or where one tree is looked at, those in it.
  bool leads(std::size_t way) const { return count.empty() || count[way] != 0.0; }
};

class Space {
 public:
  Space(const ForestView& forest, const PartialWeights& weights, const double* count = nullptr) : forest_(forest) {
    decay_.resize(forest.n_subtrees);
    root_.resize(forest.n_subtrees);
    for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {
      const bool leaf = forest.is_leaf(u);
      decay_[u] = leaf ? weights.leaf_decay : weights.decay[forest.label[u]];
      root_[u] = std::sqrt(leaf ? weights.leaf_depth_decay : weights.depth_decay[forest.label[u]]);
    }
    if (count) keep_only(count);
  }

  const ForestView& forest() const { return forest_; }
  double decay(std::int32_t u) const { return decay_[u]; }
  double root(std::int32_t u) const { return root_[u]; }
  std::int32_t label(std::int32_t u) const { return forest_.label[u]; }
  std::int32_t n_children(std::int32_t u) const {
    return static_cast<std::int32_t>(forest_.child_start[u + 1] - forest_.child_start[u]);
  }
  std::int32_t child(std::int32_t u, std::int32_t j) const { return forest_.child[forest_.child_start[u] + j]; }
  // Whether a fragment that is looked for may keep the child.
  bool may_keep(std::int32_t u, std::int32_t j) const {
    return kept_.empty() || kept_[forest_.child_start[u] + j] != 0;
  }

  // All ways to hang one more node on the right edge: calls visit(depth of its parent, child, its place, what the way is
  // multiplied by).
  template <class Visit>
  void grow(const Branch& branch, std::size_t way, const Visit& visit) const {
    const Edge* edge = branch.edge.data() + way * (branch.depth + 1);
    const Edge& end = edge[branch.depth];
    for (std::int32_t j = 0; j < n_children(end.node); ++j) {
      if (may_keep(end.node, j)) visit(branch.depth, child(end.node, j), j, root_[child(end.node, j)]);
    }
    for (std::int32_t d = branch.depth - 1; d >= 0; --d) {
      double gap = decay_[end.node];  // what ends the last node
      for (std::int32_t j = edge[d].last + 1; j < n_children(edge[d].node); ++j) {
        if (may_keep(edge[d].node, j)) visit(d, child(edge[d].node, j), j, gap * root_[child(edge[d].node, j)]);
        gap *= decay_[edge[d].node];
      }
    }
  }

 private:
  // A fragment of one tree, or of two, has no child below a parent but where a tree has two such nodes.
  void keep_only(const double* count) {
    // What is below a subtree counts too, where two trees hold it equally often.
    std::vector<char> held(forest_.n_subtrees, 0);
    for (std::int32_t u = static_cast<std::int32_t>(forest_.n_subtrees); u-- > 0;) {  // parents come first
      if (count[u] != 0.0) held[u] = 1;
      for (std::int32_t j = 0; held[u] && j < n_children(u); ++j) held[child(u, j)] = 1;
    }
    const auto pair = [&](std::int32_t u, std::int32_t j) {
      return static_cast<std::uint64_t>(label(u)) << 32 | static_cast<std::uint32_t>(label(child(u, j)));
    };
    std::unordered_set<std::uint64_t, Hasher> pairs;
    for (std::int32_t u = 0; u < forest_.n_subtrees; ++u) {
      for (std::int32_t j = 0; held[u] && j < n_children(u); ++j) pairs.insert(pair(u, j));
    }
    kept_.resize(forest_.child_start[forest_.n_subtrees] + 1);  // never empty
    for (std::int32_t u = 0; u < forest_.n_subtrees; ++u) {
      for (std::int32_t j = 0; j < n_children(u); ++j) kept_[forest_.child_start[u] + j] = pairs.contains(pair(u, j));
    }
  }

  const ForestView& forest_;
  std::vector<double> decay_, root_;
  std::vector<char> kept_;  // by child; empty where all may be kept
};

// Adds up ways with the same right edge, keeping the order in which they came.
inline void merge(Branch& branch) {
  const std::size_t width = branch.depth + 1;
  std::unordered_map<std::string_view, std::size_t, Hasher> place;
  place.reserve(branch.mass.size());
  std::size_t n = 0;
  for (std::size_t way = 0; way < branch.mass.size(); ++way) {
    // The bytes of ways before n are final, so views of them stay good.
    const Edge* edge = branch.edge.data() + way * width;
    const std::string_view key(reinterpret_cast<const char*>(edge), sizeof(Edge) * width);
    if (const auto found = place.find(key); found != place.end()) {
      branch.mass[found->second] += branch.mass[way];
      if (!branch.count.empty()) branch.count[found->second] += branch.count[way];
      continue;
    }
    Edge* kept = branch.edge.data() + n * width;
    if (n != way) std::memmove(kept, edge, sizeof(Edge) * width);
    branch.mass[n] = branch.mass[way];
    if (!branch.count.empty()) branch.count[n] = branch.count[way];
    place.emplace(std::string_view(reinterpret_cast<const char*>(kept), sizeof(Edge) * width), n);
    ++n;
  }
  branch.mass.resize(n);
  if (!branch.count.empty()) branch.count.resize(n);
  branch.edge.resize(n * width);
}

// The fragment with one more node: below the node of the right edge at a depth, with a label.
inline Branch begin(const Branch& branch, std::int32_t parent_depth, std::int32_t label) {
  Branch next;
  next.code.reserve(branch.code.size() + 2);
  next.code = branch.code;
  next.code.push_back(parent_depth + 1);
  next.code.push_back(label);
  next.depth = parent_depth + 1;
  next.size = branch.size + 1;
  return next;
}

inline void add_way(Branch& next, const Branch& branch, std::size_t way, std::int32_t child, std::int32_t place,
                    double factor) {
  const Edge* edge = branch.edge.data() + way * (branch.depth + 1);
  next.mass.push_back(branch.mass[way] * factor);
  if (!branch.count.empty()) next.count.push_back(branch.count[way] * factor);
  next.edge.insert(next.edge.end(), edge, edge + next.depth);
  next.edge.back().last = place;
  next.edge.push_back({child, -1});
}

// Single nodes, at all subtrees with a mass, by label; where one tree is looked at, those that it holds.
inline std::vector<Branch> roots(const Space& space, const double* mass, const double* count = nullptr) {
  std::map<std::int32_t, Branch> found;
  for (std::int32_t u = 0; u < space.forest().n_subtrees; ++u) {
    if (mass[u] == 0.0 && !(count && count[u] != 0.0)) continue;
    Branch& branch = found[space.label(u)];
    if (branch.code.empty()) branch.code = {0, space.label(u)};
    branch.mass.push_back(mass[u] * space.root(u));
    if (count) branch.count.push_back(count[u] * space.root(u));
    branch.edge.push_back({u, -1});
  }
  std::vector<Branch> out;
  for (auto& [label, branch] : found) {
    bool leads = false;
    for (std::size_t way = 0; way < branch.mass.size(); ++way) leads = leads || branch.leads(way);
    if (leads) out.push_back(std::move(branch));
  }
  return out;
}

}  // namespace espalier::partial
