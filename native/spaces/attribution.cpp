#include "spaces/attribution.hpp"

#include <algorithm>

namespace espalier {
namespace {

// A node of the tree, with its inner children.
struct Position {
  std::int32_t subtree;
  std::vector<std::int32_t> child;  // positions
};

std::vector<Position> positions_below(const ForestView& forest, std::int32_t root) {
  std::vector<Position> out;
  std::vector<std::pair<std::int32_t, std::int32_t>> stack{{root, -1}};  // subtree, position of the parent
  while (!stack.empty()) {
    const auto [u, parent] = stack.back();
    stack.pop_back();
    const auto here = static_cast<std::int32_t>(out.size());
    out.push_back({u, {}});
    if (parent >= 0 && !forest.is_leaf(u)) out[parent].child.push_back(here);
    for (std::int64_t c = forest.child_start[u + 1]; c-- > forest.child_start[u];)
      stack.push_back({forest.child[c], here});
  }
  return out;
}

}  // namespace

std::vector<double> attribute_subset(const SubsetSearch& search, std::int32_t root, const std::vector<double>& point,
                                     const std::vector<double>& weight, Pace& pace) {
  const ForestView& forest = search.forest;
  const std::vector<std::int32_t>& production = search.productions.of;
  std::vector<std::vector<std::int32_t>> members(search.productions.start.size() - 1);
  std::vector<std::int32_t> place(forest.n_subtrees, -1);  // among the members of its production
  for (std::int32_t v = 0; v < forest.n_subtrees; ++v) {
    if (production[v] < 0) continue;
    place[v] = static_cast<std::int32_t>(members[production[v]].size());
    members[production[v]].push_back(v);
  }
  const std::vector<Position> tree = positions_below(forest, root);
  const std::size_t n = tree.size();
  std::vector<double> out(n, 0.0);
  std::vector<std::vector<double>> delta(n), bar(n);
  // Calls visit(which inner child, the child's subtree below v) for the inner children of v, in order.
  const auto for_inner = [&](std::int32_t v, const auto& visit) {
    std::size_t i = 0;
    for (std::int64_t c = forest.child_start[v]; c < forest.child_start[v + 1]; ++c) {
      if (!forest.is_leaf(forest.child[c])) visit(i++, forest.child[c]);
    }
  };
  const auto matched = [&](std::size_t a, std::size_t i, std::int32_t v) {
    const std::int32_t child = tree[a].child[i];
    return production[v] == production[tree[child].subtree] ? delta[child][place[v]] : 0.0;
  };
  for (std::size_t k = 0; k < point.size(); ++k) {
    const double z = point[k];  // every production weighs so much more: its power counts the productions of a fragment
    for (std::size_t a = n; a-- > 0;) {
      const std::int32_t u = tree[a].subtree, p = production[u];
      if (p < 0) continue;
      pace.step(static_cast<std::int64_t>(members[p].size() * (1 + tree[a].child.size())));
      const double decay = z * search.weights.decay[forest.label[u]],
                   frontier = search.weights.frontier[forest.label[u]];
      delta[a].resize(members[p].size());
      bar[a].resize(members[p].size());
      for (std::size_t m = 0; m < members[p].size(); ++m) {
        double value = decay;
        for_inner(members[p][m], [&](std::size_t i, std::int32_t v) { value *= frontier + matched(a, i, v); });
        delta[a][m] = value;
        bar[a][m] = search.mass[members[p][m]];
      }
    }
    for (std::size_t a = 0; a < n; ++a) {
      const std::int32_t u = tree[a].subtree, p = production[u];
      if (p < 0) continue;
      pace.step(static_cast<std::int64_t>(members[p].size() * (1 + tree[a].child.size())));
      const double frontier = search.weights.frontier[forest.label[u]];
      double total = 0.0;
      for (std::size_t m = 0; m < members[p].size(); ++m) {
        const double pushed = bar[a][m] * delta[a][m];
        if (pushed == 0.0) continue;
        total += pushed;
        for_inner(members[p][m], [&](std::size_t i, std::int32_t v) {
          const std::int32_t child = tree[a].child[i];
          if (production[v] != production[tree[child].subtree]) return;
          const double own = delta[child][place[v]];
          if (frontier + own > 0) bar[child][place[v]] += pushed / (frontier + own);
        });
      }
      out[a] += weight[k] * total / z;
    }
  }
  return out;
}

}  // namespace espalier
