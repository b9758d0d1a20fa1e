#include "partial_mining.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

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
  std::int32_t symbol(std::int32_t u) const { return 2 * forest_.label[u] + (forest_.is_leaf(u) ? 1 : 0); }
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
  // A fragment of one tree has no child below a parent but where that tree has two such nodes.
  void keep_only(const double* count) {
    const auto pair = [&](std::int32_t u, std::int32_t j) {
      return static_cast<std::int64_t>(symbol(u)) << 32 | symbol(child(u, j));
    };
    std::unordered_set<std::int64_t> pairs;
    for (std::int32_t u = 0; u < forest_.n_subtrees; ++u) {
      for (std::int32_t j = 0; count[u] != 0.0 && j < n_children(u); ++j) pairs.insert(pair(u, j));
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

// By how much an extension of a way multiplies it, at most, by the number of nodes that it adds.
//
// One fragment may be hung below a node in several ways. Their first children have one symbol then, so what children of
// one symbol begin is added up, and of different symbols the largest counts.
class Extensions {
 public:
  Extensions(const Space& space, std::int32_t most, const MiningLimits& limits, Team& team)
      : space_(space), n_(most + 1) {
    const ForestView& forest = space.forest();
    const std::int64_t n_children = forest.child_start[forest.n_subtrees];
    if (n_ * (forest.n_subtrees + n_children) > limits.memory / 8) throw std::bad_alloc();
    below_.assign(forest.n_subtrees * n_, 0.0);
    after_.assign(n_children * n_, 0.0);
    std::int32_t n_symbols = 0;
    for (std::int32_t u = 0; u < forest.n_subtrees; ++u) n_symbols = std::max(n_symbols, space.symbol(u) + 1);
    slot_.assign(n_symbols, -1);
    for (std::int32_t u = 0; u < forest.n_subtrees; ++u) {  // children come first
      if (u % 1024 == 0) team.breathe(0);
      fill(u);
    }
  }

  // By the number of nodes that are added, up to `most`.
  const double* of(const Branch& branch, std::size_t way, std::int32_t most, std::vector<double>& scratch) const {
    const Edge* edge = branch.edge.data() + way * (branch.depth + 1);
    scratch.resize(2 * n_);
    double *own = scratch.data(), *next = own + n_;
    const std::int32_t end = edge[branch.depth].node;
    std::copy_n(below_.data() + end * n_, most + 1, own);
    own[0] = space_.decay(end);
    for (std::int32_t d = 0; d < branch.depth; ++d) {
      multiply(own, after_.data() + (space_.forest().child_start[edge[d].node] + edge[d].last) * n_, most, next);
      std::swap(own, next);
    }
    return own;
  }

 private:
  // What the children of one symbol begin, seen from the leftmost of them so far, and below the parent.
  struct Begun {
    std::int32_t symbol, place;
    std::vector<double> after, below;
  };

  void fill(std::int32_t u) {
    const std::int32_t k = space_.n_children(u);
    double* below = below_.data() + u * n_;
    n_begun_ = 0;
    for (std::int32_t j = k; j-- > 0;) {
      double* after = after_.data() + (space_.forest().child_start[u] + j) * n_;  // nothing follows the last child
      double* before = j > 0 ? after - n_ : nullptr;
      after[0] = 1.0;
      for (std::int32_t s = 1; before && s < n_; ++s) before[s] = space_.decay(u) * after[s];
      if (!space_.may_keep(u, j)) continue;
      begin(space_.child(u, j), after);
      Begun& all = begun(space_.symbol(space_.child(u, j)), j);
      const double gap = std::pow(space_.decay(u), all.place - j);
      all.place = j;
      for (std::int32_t s = 1; s < n_; ++s) {
        all.after[s] = own_[s] + gap * all.after[s];
        all.below[s] += own_[s];
        below[s] = std::max(below[s], all.below[s]);
        if (before) before[s] = std::max(before[s], all.after[s]);
      }
    }
    for (std::int32_t b = 0; b < n_begun_; ++b) slot_[begun_[b].symbol] = -1;
  }
  Begun& begun(std::int32_t symbol, std::int32_t place) {
    if (slot_[symbol] < 0) {
      slot_[symbol] = n_begun_;
      if (n_begun_ == std::ssize(begun_)) begun_.emplace_back();
      begun_[n_begun_].symbol = symbol;
      begun_[n_begun_].place = place;
      begun_[n_begun_].after.assign(n_, 0.0);
      begun_[n_begun_].below.assign(n_, 0.0);
      ++n_begun_;
    }
    return begun_[slot_[symbol]];
  }
  // own_: the fragments of a child, of one node or more, times what may follow them.
  void begin(std::int32_t c, const double* after) {
    alone_.assign(n_, 0.0);
    const double* below = below_.data() + c * n_;
    for (std::int32_t s = 1; s < n_; ++s) alone_[s] = space_.root(c) * (s == 1 ? space_.decay(c) : below[s - 1]);
    own_.resize(n_);
    multiply(alone_.data(), after, n_ - 1, own_.data());
  }
  // Of all ways to part a number of nodes, the best.
  static void multiply(const double* a, const double* b, std::int32_t most, double* out) {
    for (std::int32_t s = 0; s <= most; ++s) {
      double best = 0.0;
      for (std::int32_t t = 0; t <= s; ++t) best = std::max(best, a[s - t] * b[t]);
      out[s] = best;
    }
  }

  const Space& space_;
  std::int64_t n_;
  std::vector<double> below_;  // by subtree: what may hang below it
  std::vector<double> after_;  // by child: what may follow it below the same parent
  // While the tables are filled:
  std::vector<Begun> begun_;
  std::int32_t n_begun_ = 0;
  std::vector<std::int32_t> slot_;  // by symbol: in begun_, or -1
  std::vector<double> alone_, own_;
};

double weight_of(const Branch& branch, const Space& space) {
  double mass = 0.0, count = 0.0;
  for (std::size_t way = 0; way < branch.mass.size(); ++way) {
    const double end = space.decay(branch.edge[way * (branch.depth + 1) + branch.depth].node);
    mass += branch.mass[way] * end;
    if (!branch.count.empty()) count += branch.count[way] * end;
  }
  return branch.count.empty() ? mass : mass * count;
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

void add_way(Branch& next, const Branch& branch, std::size_t way, std::int32_t child, std::int32_t place,
             double factor) {
  const Edge* edge = branch.edge.data() + way * (branch.depth + 1);
  next.mass.push_back(branch.mass[way] * factor);
  if (!branch.count.empty()) next.count.push_back(branch.count[way] * factor);
  next.edge.insert(next.edge.end(), edge, edge + next.depth);
  next.edge.back().last = place;
  next.edge.push_back({child, -1});
}

// Single nodes, at all subtrees with a mass, by symbol; where one tree is looked at, those that it holds.
std::vector<Branch> roots(const Space& space, const double* mass, const double* count = nullptr) {
  std::map<std::int32_t, Branch> found;
  for (std::int32_t u = 0; u < space.forest().n_subtrees; ++u) {
    if (mass[u] == 0.0 && !(count && count[u] != 0.0)) continue;
    Branch& branch = found[space.symbol(u)];
    if (branch.code.empty()) branch.code = {0, space.symbol(u)};
    branch.mass.push_back(mass[u] * space.root(u));
    if (count) branch.count.push_back(count[u] * space.root(u));
    branch.edge.push_back({u, -1});
  }
  std::vector<Branch> out;
  for (auto& [symbol, branch] : found) {
    bool leads = false;
    for (std::size_t way = 0; way < branch.mass.size(); ++way) leads = leads || branch.leads(way);
    if (leads) out.push_back(std::move(branch));
  }
  return out;
}

class Bounds {
 public:
  Bounds(const Extensions& extensions, std::int32_t max_size) : extensions_(extensions), max_size_(max_size) {}

  // No extension weighs more: of each size, each way is multiplied by the most that an extension of that size can. In
  // one tree, an extension of that size has at most such a weight in the machine and such a feature in the tree.
  double operator()(const Branch& branch) {
    const std::int32_t most = max_size_ - branch.size;
    positive_.assign(most + 1, 0.0);
    negative_.assign(most + 1, 0.0);
    own_.assign(most + 1, branch.count.empty() ? 1.0 : 0.0);
    for (std::size_t way = 0; way < branch.mass.size(); ++way) {
      const double* grown = extensions_.of(branch, way, most, scratch_);
      std::vector<double>& side = branch.mass[way] > 0 ? positive_ : negative_;
      for (std::int32_t s = 1; s <= most; ++s) side[s] += std::abs(branch.mass[way]) * grown[s];
      if (branch.count.empty() || branch.count[way] == 0.0) continue;
      for (std::int32_t s = 1; s <= most; ++s) own_[s] += branch.count[way] * grown[s];
    }
    double bound = 0.0;
    for (std::int32_t s = 1; s <= most; ++s) bound = std::max(bound, std::max(positive_[s], negative_[s]) * own_[s]);
    return bound;
  }

 private:
  const Extensions& extensions_;
  std::int32_t max_size_;
  std::vector<double> positive_, negative_, own_, scratch_;
};

// All fragments with one node more.
class Expander {
 public:
  explicit Expander(const Space& space) : space_(space) {}

  template <class Visit>
  void expand(const Branch& branch, const Visit& visit) {
    groups_.clear();
    for (const bool leads : {true, false}) {  // the others follow where they can
      for (std::size_t way = 0; way < branch.mass.size(); ++way) {
        if (branch.leads(way) == leads) grow(branch, way, leads);
      }
    }
    for (auto& [key, next] : groups_) {
      if (next.depth <= branch.depth) merge(next);  // ways that differed below the new node's parent are now alike
      visit(std::move(next));
    }
  }

 private:
  void grow(const Branch& branch, std::size_t way, bool leads) {
    space_.grow(branch, way, [&](std::int32_t depth, std::int32_t child, std::int32_t place, double factor) {
      const std::pair<std::int32_t, std::int32_t> key{depth, space_.symbol(child)};
      auto found = groups_.find(key);
      if (found == groups_.end()) {
        if (!leads) return;
        found = groups_.emplace(key, begin(branch, depth, key.second)).first;
      }
      add_way(found->second, branch, way, child, place, factor);
    });
  }

  const Space& space_;
  std::map<std::pair<std::int32_t, std::int32_t>, Branch> groups_;
};

}  // namespace

Mined mine_partial(const PartialSearch& search, std::int64_t n, const MiningLimits& limits, MiningCounts& counts,
                   Team& team) {
  const std::int32_t max_size = search.max_size;
  const Space space(search.forest, search.weights, search.count);
  const Extensions extensions(space, max_size - 1, limits, team);
  Best best(n, counts);
  std::vector<Branch> first = roots(space, search.mass, search.count);
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
        space.grow(branch, way, [&](std::int32_t depth, std::int32_t child, std::int32_t place, double factor) {
          const std::int32_t symbol = translated(space.symbol(child));
          if (symbol < 0) return;
          const auto step = ahead.find({depth + 1, symbol});
          if (step == ahead.end()) return;
          const auto [group, made] = groups.try_emplace(step->second);
          if (made) group->second = begin(branch, depth, space.symbol(child));
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
