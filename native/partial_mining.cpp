#include "partial_mining.hpp"

#include <cstring>
#include <map>
#include <string>
#include <unordered_map>

namespace espalier {
namespace {

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
  std::vector<Edge> edge;            // by way, depth + 1 each
  double bound = 0.0;

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof(Branch) + 4 * code.capacity() + 8 * mass.capacity() +
                                     sizeof(Edge) * edge.capacity());
  }
};

class Space {
 public:
  Space(const ForestView& forest, const PartialWeights& weights) : forest_(forest) {
    decay_.resize(forest.n_subtrees);
    root_.resize(forest.n_subtrees);
    for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {
      const bool leaf = forest.is_leaf(u);
      decay_[u] = leaf ? weights.leaf_decay : weights.decay[forest.label[u]];
      root_[u] = std::sqrt(leaf ? weights.leaf_depth_decay : weights.depth_decay[forest.label[u]]);
    }
  }

  const ForestView& forest() const { return forest_; }
  double decay(std::int32_t u) const { return decay_[u]; }
  double root(std::int32_t u) const { return root_[u]; }
  std::int32_t symbol(std::int32_t u) const { return 2 * forest_.label[u] + (forest_.is_leaf(u) ? 1 : 0); }
  std::int32_t n_children(std::int32_t u) const {
    return static_cast<std::int32_t>(forest_.child_start[u + 1] - forest_.child_start[u]);
  }
  std::int32_t child(std::int32_t u, std::int32_t j) const { return forest_.child[forest_.child_start[u] + j]; }

  // All ways to hang one more node on the right edge: calls visit(depth of its parent, child, its place, weight of the
  // way).
  template <class Visit>
  void grow(const Branch& branch, std::size_t way, const Visit& visit) const {
    const Edge* edge = branch.edge.data() + way * (branch.depth + 1);
    const Edge& end = edge[branch.depth];
    const double done = branch.mass[way] * decay_[end.node];  // what ends the last node
    for (std::int32_t j = 0; j < n_children(end.node); ++j) {
      visit(branch.depth, child(end.node, j), j, branch.mass[way] * root_[child(end.node, j)]);
    }
    for (std::int32_t d = branch.depth - 1; d >= 0; --d) {
      double gap = done;
      for (std::int32_t j = edge[d].last + 1; j < n_children(edge[d].node); ++j) {
        visit(d, child(edge[d].node, j), j, gap * root_[child(edge[d].node, j)]);
        gap *= decay_[edge[d].node];
      }
    }
  }

 private:
  const ForestView& forest_;
  std::vector<double> decay_, root_;
};

// How much all extensions of a way weigh together, by the number of nodes that they add: polynomials cut off.
class Extensions {
 public:
  Extensions(const Space& space, std::int32_t most) : space_(space), n_(most + 1) {
    const ForestView& forest = space.forest();
    below_.assign(forest.n_subtrees * n_, 0.0);
    after_.assign(forest.child_start[forest.n_subtrees] * n_, 0.0);
    std::vector<double> product(n_);
    for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {  // children come first
      const std::int32_t k = space.n_children(u);
      double* below = below_.data() + u * n_;
      for (std::int32_t j = k; j-- > 0;) {
        // What child j begins: its own fragments, each alone or followed by others.
        begun(u, j, k, product);
        for (std::int32_t s = 0; s < n_; ++s) below[s] += product[s];
        if (j == 0) continue;
        double* before = after_.data() + (forest.child_start[u] + j - 1) * n_;
        const double* after = after_.data() + (forest.child_start[u] + j) * n_;
        for (std::int32_t s = 0; s < n_; ++s) before[s] = product[s] + (j < k ? space.decay(u) * after[s] : 0.0);
      }
    }
  }

  // Adds the mass of a way times the extensions of each size; `scratch` holds two polynomials.
  void add(const Branch& branch, std::size_t way, std::vector<double>& total, std::vector<double>& scratch) const {
    const Edge* edge = branch.edge.data() + way * (branch.depth + 1);
    scratch.assign(2 * n_, 0.0);
    double *own = scratch.data(), *next = own + n_;
    const std::int32_t end = edge[branch.depth].node;
    std::memcpy(own, below_.data() + end * n_, sizeof(double) * n_);
    own[0] += space_.decay(end);
    for (std::int32_t d = 0; d < branch.depth; ++d) {
      const double* after = after_.data() + (space_.forest().child_start[edge[d].node] + edge[d].last) * n_;
      multiply_one_plus(own, after, next);
      std::swap(own, next);
    }
    for (std::int32_t s = 0; s < n_; ++s) total[s] += std::abs(branch.mass[way]) * own[s];
  }
  std::int32_t size() const { return n_; }

 private:
  // The fragments of child j, of one node or more, times what may follow them.
  void begun(std::int32_t u, std::int32_t j, std::int32_t k, std::vector<double>& out) const {
    const std::int32_t c = space_.child(u, j);
    const double* below = below_.data() + c * n_;
    std::vector<double> own(n_, 0.0);
    for (std::int32_t s = 1; s < n_; ++s) own[s] = space_.root(c) * (below[s - 1] + (s == 1 ? space_.decay(c) : 0.0));
    if (j + 1 == k) {
      out = own;
      return;
    }
    multiply_one_plus(own.data(), after_.data() + (space_.forest().child_start[u] + j) * n_, out.data());
  }
  // out = a (1 + b), cut off.
  void multiply_one_plus(const double* a, const double* b, double* out) const {
    for (std::int32_t s = 0; s < n_; ++s) {
      double sum = a[s];
      for (std::int32_t t = 0; t <= s; ++t) sum += a[s - t] * b[t];
      out[s] = sum;
    }
  }

  const Space& space_;
  std::int32_t n_;
  std::vector<double> below_;  // by subtree: what may hang below it
  std::vector<double> after_;  // by child: what may follow it below the same parent
};

double weight_of(const Branch& branch, const Space& space) {
  double total = 0.0;
  for (std::size_t way = 0; way < branch.mass.size(); ++way) {
    total += branch.mass[way] * space.decay(branch.edge[way * (branch.depth + 1) + branch.depth].node);
  }
  return total;
}

// Adds up ways with the same right edge, keeping the order in which they came.
void merge(Branch& branch) {
  const std::size_t width = branch.depth + 1;
  std::unordered_map<std::string_view, std::size_t> place;
  place.reserve(branch.mass.size());
  std::size_t n = 0;
  for (std::size_t way = 0; way < branch.mass.size(); ++way) {
    // The bytes of ways before n are final, so views of them stay good.
    const Edge* edge = branch.edge.data() + way * width;
    const std::string_view key(reinterpret_cast<const char*>(edge), sizeof(Edge) * width);
    if (const auto found = place.find(key); found != place.end()) {
      branch.mass[found->second] += branch.mass[way];
      continue;
    }
    Edge* kept = branch.edge.data() + n * width;
    if (n != way) std::memmove(kept, edge, sizeof(Edge) * width);
    branch.mass[n] = branch.mass[way];
    place.emplace(std::string_view(reinterpret_cast<const char*>(kept), sizeof(Edge) * width), n);
    ++n;
  }
  branch.mass.resize(n);
  branch.edge.resize(n * width);
}

// The fragment with one more node: below the node of the right edge at a depth, with a symbol.
Branch begin(const Branch& branch, std::int32_t parent_depth, std::int32_t symbol) {
  Branch next;
  next.code.reserve(branch.code.size() + 2);
  next.code = branch.code;
  next.code.push_back(parent_depth + 1);
  next.code.push_back(symbol);
  next.depth = parent_depth + 1;
  next.size = branch.size + 1;
  return next;
}

void add_way(Branch& next, const Branch& branch, std::size_t way, std::int32_t child, std::int32_t place, double mass) {
  const Edge* edge = branch.edge.data() + way * (branch.depth + 1);
  next.mass.push_back(mass);
  next.edge.insert(next.edge.end(), edge, edge + next.depth);
  next.edge.back().last = place;
  next.edge.push_back({child, -1});
}

// Single nodes, at all subtrees with a mass, by symbol.
std::vector<Branch> roots(const Space& space, const double* mass) {
  std::map<std::int32_t, Branch> found;
  for (std::int32_t u = 0; u < space.forest().n_subtrees; ++u) {
    if (mass[u] == 0.0) continue;
    Branch& branch = found[space.symbol(u)];
    if (branch.code.empty()) branch.code = {0, space.symbol(u)};
    branch.mass.push_back(mass[u] * space.root(u));
    branch.edge.push_back({u, -1});
  }
  std::vector<Branch> out;
  for (auto& [symbol, branch] : found) out.push_back(std::move(branch));
  return out;
}

class Bounds {
 public:
  Bounds(const Extensions& extensions, std::int32_t max_size) : extensions_(extensions), max_size_(max_size) {}

  // No extension weighs more: of each size, none weighs more than all of that size together.
  double operator()(const Branch& branch) {
    positive_.assign(extensions_.size(), 0.0);
    negative_.assign(extensions_.size(), 0.0);
    for (std::size_t way = 0; way < branch.mass.size(); ++way) {
      extensions_.add(branch, way, branch.mass[way] > 0 ? positive_ : negative_, scratch_);
    }
    double most = 0.0;
    for (std::int32_t s = 1; s <= max_size_ - branch.size; ++s) most = std::max({most, positive_[s], negative_[s]});
    return most;
  }

 private:
  const Extensions& extensions_;
  std::int32_t max_size_;
  std::vector<double> positive_, negative_, scratch_;
};

// All fragments with one node more.
class Expander {
 public:
  explicit Expander(const Space& space) : space_(space) {}

  template <class Visit>
  void expand(const Branch& branch, const Visit& visit) {
    groups_.clear();
    for (std::size_t way = 0; way < branch.mass.size(); ++way) {
      space_.grow(branch, way, [&](std::int32_t depth, std::int32_t child, std::int32_t place, double mass) {
        const std::int32_t symbol = space_.symbol(child);
        const auto [found, made] = groups_.try_emplace({depth, symbol});
        if (made) found->second = begin(branch, depth, symbol);
        add_way(found->second, branch, way, child, place, mass);
      });
    }
    for (auto& [key, next] : groups_) {
      if (next.depth <= branch.depth) merge(next);  // ways that differed below the new node's parent are now alike
      visit(std::move(next));
    }
  }

 private:
  const Space& space_;
  std::map<std::pair<std::int32_t, std::int32_t>, Branch> groups_;
};

}  // namespace

Mined mine_partial(const ForestView& forest, const double* mass, const PartialWeights& weights, std::int64_t n,
                   std::int32_t max_size, const MiningLimits& limits, MiningCounts& counts, Team& team) {
  const Space space(forest, weights);
  const Extensions extensions(space, max_size - 1);
  Best best(n, counts);
  std::vector<Branch> first = roots(space, mass);
  std::vector<Bounds> bounds(team.size(), Bounds(extensions, max_size));
  for (Branch& branch : first) {
    branch.bound = bounds.front()(branch);
    best.offer(weight_of(branch, space), branch.code);
  }
  counts.visited += std::ssize(first);
  std::vector<Expander> expanders(team.size(), Expander(space));
  const auto expand = [&](const Branch& branch, int worker, const auto& visit) {
    expanders[worker].expand(branch, [&](Branch&& next) {
      ++counts.visited;
      best.offer(weight_of(next, space), next.code);
      if (next.size == max_size) return;
      next.bound = bounds[worker](next);
      visit(std::move(next));
    });
  };
  return branch_and_bound(std::move(first), expand, best, limits, counts, team);
}

namespace {

// The fragments of a dictionary by their common beginnings.
struct PrefixTree {
  struct Node {
    std::map<std::pair<std::int32_t, std::int32_t>, std::int32_t> next;  // by depth and symbol
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
  const auto translated = [&](std::int32_t symbol) {
    const std::int32_t label = label_of[symbol / 2];
    return label < 0 ? -1 : 2 * label + symbol % 2;
  };
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
    const auto root = next.find({0, translated(first[task].code[1])});
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
        space.grow(branch, way, [&](std::int32_t depth, std::int32_t child, std::int32_t place, double mass) {
          const std::int32_t symbol = translated(space.symbol(child));
          if (symbol < 0) return;
          const auto step = ahead.find({depth + 1, symbol});
          if (step == ahead.end()) return;
          const auto [group, made] = groups.try_emplace(step->second);
          if (made) group->second = begin(branch, depth, space.symbol(child));
          add_way(group->second, branch, way, child, place, mass);
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
