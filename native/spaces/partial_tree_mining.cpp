#include "spaces/partial_tree_mining.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "spaces/partial_tree_space.hpp"

namespace espalier {

using namespace partial;

namespace {

// By how much an extension of a way multiplies it, at most, by the number of nodes that it adds.
//
// One fragment may be hung below a node in several ways. Their first children have one label then, so what children of
// one label begin is added up, and of different labels the largest counts.
class Extensions {
 public:
  Extensions(const Space& space, std::int32_t most, const MiningLimits& limits, Team& team)
      : space_(space), n_(most + 1) {
    const ForestView& forest = space.forest();
    const std::int64_t n_children = forest.child_start[forest.n_subtrees];
    if (n_ * (forest.n_subtrees + n_children) > limits.memory / 8) throw std::bad_alloc();
    below_.assign(forest.n_subtrees * n_, 0.0);
    after_.assign(n_children * n_, 0.0);
    std::int32_t n_labels = 0;
    for (std::int32_t u = 0; u < forest.n_subtrees; ++u) n_labels = std::max(n_labels, space.label(u) + 1);
    slot_.assign(n_labels, -1);
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
  // What the children of one label begin, seen from the leftmost of them so far, and below the parent.
  struct Begun {
    std::int32_t label, place;
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
      Begun& all = begun(space_.label(space_.child(u, j)), j);
      const double gap = std::pow(space_.decay(u), all.place - j);
      all.place = j;
      for (std::int32_t s = 1; s < n_; ++s) {
        all.after[s] = own_[s] + gap * all.after[s];
        all.below[s] += own_[s];
        below[s] = std::max(below[s], all.below[s]);
        if (before) before[s] = std::max(before[s], all.after[s]);
      }
    }
    for (std::int32_t b = 0; b < n_begun_; ++b) slot_[begun_[b].label] = -1;
  }
  Begun& begun(std::int32_t label, std::int32_t place) {
    if (slot_[label] < 0) {
      slot_[label] = n_begun_;
      if (n_begun_ == std::ssize(begun_)) begun_.emplace_back();
      begun_[n_begun_].label = label;
      begun_[n_begun_].place = place;
      begun_[n_begun_].after.assign(n_, 0.0);
      begun_[n_begun_].below.assign(n_, 0.0);
      ++n_begun_;
    }
    return begun_[slot_[label]];
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
  static void multiply(const double* a, const double* b, std::int64_t most, double* out) {
    for (std::int64_t s = 0; s <= most; ++s) {
      double best = 0.0;
      for (std::int64_t t = 0; t <= s; ++t) best = std::max(best, a[s - t] * b[t]);
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
  std::vector<std::int32_t> slot_;  // by label: in begun_, or -1
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

class Bounds {
 public:
  Bounds(const Extensions& extensions, std::int32_t max_size) : extensions_(extensions), max_size_(max_size) {}

  // No extension weighs more: of each size, each way is multiplied by the most that an extension of that size can. In
  // one tree, an extension of that size has at most such a weight in the machine and such a feature in the tree.
  double operator()(const Branch& branch) {
    const std::int32_t most = max_size_ - branch.size;
    positive_.assign(most + 1, 0.0);
    negative_.assign(most + 1, 0.0);
    more_.assign(most + 1, branch.count.empty() ? 1.0 : 0.0);
    less_.assign(most + 1, 0.0);
    for (std::size_t way = 0; way < branch.mass.size(); ++way) {
      const double* grown = extensions_.of(branch, way, most, scratch_);
      std::vector<double>& side = branch.mass[way] > 0 ? positive_ : negative_;
      for (std::int32_t s = 1; s <= most; ++s) side[s] += std::abs(branch.mass[way]) * grown[s];
      if (branch.count.empty() || branch.count[way] == 0.0) continue;
      std::vector<double>& own = branch.count[way] > 0 ? more_ : less_;
      for (std::int32_t s = 1; s <= most; ++s) own[s] += std::abs(branch.count[way]) * grown[s];
    }
    double bound = 0.0;
    for (std::int32_t s = 1; s <= most; ++s) {
      bound = std::max(bound, std::max(positive_[s], negative_[s]) * std::max(more_[s], less_[s]));
    }
    return bound;
  }

 private:
  const Extensions& extensions_;
  std::int32_t max_size_;
  std::vector<double> positive_, negative_, more_, less_, scratch_;
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
      const std::pair<std::int32_t, std::int32_t> key{depth, space_.label(child)};
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
  Findings findings(best, counts);
  for (Branch& branch : first) {
    branch.bound = bounds.front()(branch);
    findings.visit(weight_of(branch, space), [&] { return branch.code; });
  }
  findings.report();
  std::vector<Expander> expanders(team.size(), Expander(space));
  const auto expand = [&](const Branch& branch, int worker, Findings& own, const auto& visit) {
    expanders[worker].expand(branch, [&](Branch&& next) {
      own.visit(weight_of(next, space), [&] { return next.code; });
      if (next.size == max_size) return;
      next.bound = bounds[worker](next);
      visit(std::move(next));
    });
  };
  return branch_and_bound(std::move(first), expand, best, limits, counts, team);
}

}  // namespace espalier
