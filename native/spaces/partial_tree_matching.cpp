// Partial fragments of a dictionary, matched at all subtrees of a forest at once.
#include <algorithm>
#include <map>

#include "spaces/partial_tree_mining.hpp"
#include "spaces/partial_tree_space.hpp"

namespace espalier {

using namespace partial;

namespace {

// The fragments of a dictionary by their common beginnings.
struct PrefixTree {
  struct Node {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> next;  // by depth and label
    std::vector<std::int32_t> fragments;                                 // that end here
  };
  std::vector<Node> nodes;

  explicit PrefixTree(const PartialCodes& fragments) : nodes(1) {
    for (std::int64_t f = 0; f < fragments.n_fragments; ++f) {
      std::int32_t at = 0;
      for (std::int64_t k = fragments.start[f]; k < fragments.start[f + 1]; k += 2) {
        const auto made = static_cast<std::int32_t>(nodes.size());
        const auto [found, fresh] = nodes[at].next.try_emplace({fragments.code[k], fragments.code[k + 1]}, made);
        at = found->second;
        if (fresh) nodes.emplace_back();
      }
      nodes[at].fragments.push_back(static_cast<std::int32_t>(f));
    }
  }
};

struct Found {
  std::int32_t subtree, fragment;
  double weight;
};

}  // namespace

PartialMatches match_partial(const PartialCodes& fragments, const ForestView& forest, const std::int32_t* label_of,
                             const PartialWeights& weights, Team& team) {
  const Space space(forest, weights);
  const PrefixTree prefixes(fragments);
  std::vector<double> used(forest.n_subtrees, 0.0);
  for (std::int64_t e = 0; e < forest.tree_start[forest.n_trees]; ++e) used[forest.tree_subtree[e]] = 1.0;
  std::vector<Branch> first = roots(space, used.data());
  std::vector<std::vector<Found>> found(first.size());
  team.run(std::ssize(first), [&](std::int64_t task, int worker) {
    struct State {
      std::int32_t prefix;
      Branch branch;
    };
    std::vector<State> stack;
    const auto enter = [&](std::int32_t prefix, Branch&& branch) {
      const std::size_t width = branch.depth + 1;
      for (std::int32_t fragment : prefixes.nodes[prefix].fragments) {
        for (std::size_t way = 0; way < branch.mass.size(); ++way) {
          const Edge* edge = branch.edge.data() + way * width;
          found[task].push_back({edge[0].node, fragment, branch.mass[way] * space.decay(edge[branch.depth].node)});
        }
      }
      if (!prefixes.nodes[prefix].next.empty()) stack.push_back({prefix, std::move(branch)});
    };
    const auto& next = prefixes.nodes[0].next;
    const auto root = next.find({0, label_of[first[task].code[1]]});
    if (root == next.end()) return;
    enter(root->second, std::move(first[task]));
    std::int64_t looked = 0;
    std::map<std::int32_t, Branch> groups;  // by node of the prefix tree
    while (!stack.empty()) {
      if (++looked % 16 == 0) team.breathe(worker);
      const State state = std::move(stack.back());
      stack.pop_back();
      const Branch& branch = state.branch;
      const auto& ahead = prefixes.nodes[state.prefix].next;
      groups.clear();
      for (std::size_t way = 0; way < branch.mass.size(); ++way) {
        space.grow(branch, way, [&](std::int32_t depth, std::int32_t child, std::int32_t place, double factor) {
          const std::int32_t label = label_of[space.label(child)];
          if (label < 0) return;
          const auto step = ahead.find({depth + 1, label});
          if (step == ahead.end()) return;
          const auto [group, made] = groups.try_emplace(step->second);
          if (made) group->second = begin(branch, depth, space.label(child));
          add_way(group->second, branch, way, child, place, factor);
        });
      }
      for (auto& [prefix, grown] : groups) {
        if (grown.depth <= branch.depth) merge(grown);
        enter(prefix, std::move(grown));
      }
    }
  });
  std::vector<Found> all;
  for (auto& part : found) all.insert(all.end(), part.begin(), part.end());
  std::stable_sort(all.begin(), all.end(), [](const Found& a, const Found& b) {
    return a.subtree != b.subtree ? a.subtree < b.subtree : a.fragment < b.fragment;
  });
  PartialMatches out;
  out.start.assign(forest.n_subtrees + 1, 0);
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (k > 0 && all[k].subtree == all[k - 1].subtree && all[k].fragment == all[k - 1].fragment) {
      out.weight.back() += all[k].weight;
      continue;
    }
    out.fragment.push_back(all[k].fragment);
    out.weight.push_back(all[k].weight);
    ++out.start[all[k].subtree + 1];
  }
  for (std::int64_t u = 0; u < forest.n_subtrees; ++u) out.start[u + 1] += out.start[u];
  return out;
}

}  // namespace espalier
