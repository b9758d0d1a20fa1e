// The space of subset trees: what a fragment weighs, by how much it can grow, and all ways to expand it by one node.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "spaces/branch_and_bound.hpp"
#include "spaces/subset_tree_mining.hpp"

namespace espalier::subset {

// An inner node of a fragment that is neither expanded nor given up yet.
struct Open {
  double keep;         // the factor of leaving it unexpanded
  std::int32_t depth;  // in edges below the root
};

// A fragment, where it occurs, and which of its nodes may still be expanded: those after the last decision.
struct Branch {
  Code code;            // decisions so far
  double factor = 1.0;  // of the decisions so far
  std::vector<Open> open;
  std::vector<double> mass;        // by occurrence
  std::vector<double> count;       // by occurrence, in the one tree that is looked at; empty where there is none
  std::vector<std::int32_t> node;  // by occurrence, its subtrees at the open nodes
  double bound = 0.0;
  std::int32_t size = 1;  // productions

  std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof(Branch) + 4 * code.capacity() + sizeof(Open) * open.capacity() +
                                     8 * (mass.capacity() + count.capacity()) + 4 * node.capacity());
  }
};

// What every search shares: roots of the weights, and by how much extensions can multiply an occurrence.
class Space {
 public:
  Space(const SubsetSearch& search, bool one_level) : forest_(search.forest), productions_(search.productions) {
    const std::int64_t n = forest_.n_subtrees;
    root_decay_.assign(n, 0.0);
    keep_.assign(n, 0.0);
    spread_.assign(n, 1.0);
    best_.assign(n, 0.0);
    for (std::int64_t u = 0; u < n; ++u) {  // children come first
      if (productions_.of[u] < 0) continue;
      root_decay_[u] = std::sqrt(search.weights.decay[forest_.label[u]]);
      keep_[u] = std::sqrt(search.weights.frontier[forest_.label[u]]);
      double kept = 1.0;
      for_inner_children(static_cast<std::int32_t>(u), [&](std::int32_t child) {
        spread_[u] *= std::max(keep_[u], best_[child]);
        kept *= keep_[u];
      });
      best_[u] = root_decay_[u] * (one_level ? kept : spread_[u]);
      if (one_level) spread_[u] = kept;
    }
    constexpr auto no_limit = std::numeric_limits<std::int32_t>::max();
    max_depth_ = search.weights.max_depth > 0 ? search.weights.max_depth : no_limit;
    max_size_ = search.weights.max_size > 0 ? search.weights.max_size : no_limit;
  }

  template <class Visit>
  void for_inner_children(std::int32_t u, const Visit& visit) const {
    for (std::int64_t c = forest_.child_start[u]; c < forest_.child_start[u + 1]; ++c) {
      if (!forest_.is_leaf(forest_.child[c])) visit(forest_.child[c]);
    }
  }
  std::int32_t production(std::int32_t u) const { return productions_.of[u]; }
  std::int64_t n_productions() const { return std::ssize(productions_.start) - 1; }
  double root_decay(std::int32_t u) const { return root_decay_[u]; }
  double keep(std::int32_t u) const { return keep_[u]; }
  // The most that expanding below u multiplies, given that u is expanded; and given that u may stay unexpanded.
  double spread(std::int32_t u) const { return spread_[u]; }
  double reach(std::int32_t u, double keep) const { return std::max(keep, best_[u]); }
  bool may_expand(const Open& open) const { return open.depth < max_depth_; }
  bool may_grow(const Branch& branch) const { return branch.size < max_size_ && !branch.open.empty(); }

 private:
  const ForestView& forest_;
  const Productions& productions_;
  std::vector<double> root_decay_, keep_, spread_, best_;
  std::int32_t max_depth_, max_size_;
};

// What occurrences weigh together, at most.
struct Sums {
  double positive = 0.0, negative = 0.0, more = 0.0, less = 0.0;

  void add(const Branch& branch, std::size_t o, double most) {
    (branch.mass[o] > 0 ? positive : negative) += std::abs(branch.mass[o]) * most;
    if (!branch.count.empty()) (branch.count[o] > 0 ? more : less) += std::abs(branch.count[o]) * most;
  }
  double bound(const Branch& branch, double factor) const {
    const double machine = factor * std::max(positive, negative);
    return branch.count.empty() ? machine : machine * factor * std::max(more, less);
  }
};

// One production as a fragment, at all subtrees with a mass.
inline std::vector<Branch> roots(const SubsetSearch& search, const Space& space) {
  std::vector<Branch> out(space.n_productions());
  for (std::int32_t u = 0; u < search.forest.n_subtrees; ++u) {
    const std::int32_t p = space.production(u);
    if (p < 0 || (search.mass[u] == 0.0 && !(search.count && search.count[u] != 0.0))) continue;
    Branch& branch = out[p];
    if (branch.mass.empty()) {
      branch.code = {p};
      branch.factor = space.root_decay(u);
      space.for_inner_children(u, [&](std::int32_t) { branch.open.push_back({space.keep(u), 1}); });
    }
    branch.mass.push_back(search.mass[u]);
    if (search.count) branch.count.push_back(search.count[u]);
    space.for_inner_children(u, [&](std::int32_t child) { branch.node.push_back(child); });
  }
  std::erase_if(out, [](const Branch& branch) { return branch.mass.empty(); });
  for (Branch& branch : out) {
    Sums sums;
    const std::size_t n_open = branch.open.size();
    for (std::size_t o = 0; o < branch.mass.size(); ++o) {
      double most = 1.0;
      for (std::size_t k = 0; k < n_open; ++k) most *= space.reach(branch.node[o * n_open + k], branch.open[k].keep);
      sums.add(branch, o, most);
    }
    branch.bound = sums.bound(branch, branch.factor);
  }
  return out;
}

inline double product_of_keeps(const std::vector<Open>& open, std::size_t from = 0) {
  double out = 1.0;
  for (std::size_t k = from; k < open.size(); ++k) out *= open[k].keep;
  return out;
}

inline double weight_of(const Branch& branch) {
  double total = 0.0;
  for (double mass : branch.mass) total += mass;
  const double factor = branch.factor * product_of_keeps(branch.open);
  if (branch.count.empty()) return factor * total;
  double count = 0.0;
  for (double own : branch.count) count += own;
  return factor * total * factor * count;
}

// The decisions of a fragment whose open nodes stay unexpanded.
inline Code closed(const Branch& branch) {
  Code out = branch.code;
  out.insert(out.end(), branch.open.size(), -1);
  return out;
}

// All ways to expand one open node of a fragment, the nodes before it given up.
class Expander {
 public:
  explicit Expander(const Space& space) : space_(space), slot_(space.n_productions(), -1) {}

  // Calls visit(Branch&&) for every expansion whose bound reaches the threshold; `pruned` counts the others. Where
  // `flat`, the children of what is expanded are given up too, without a decision in the code.
  template <class Threshold, class Visit>
  void expand(const Branch& branch, bool flat, const Threshold& threshold, std::int64_t& pruned, const Visit& visit) {
    const std::size_t n_open = branch.open.size(), n = branch.mass.size();
    most_after(branch);
    double factor = branch.factor;
    for (std::size_t j = 0; j < n_open && factor > 0; factor *= branch.open[j].keep, ++j) {
      if (!space_.may_expand(branch.open[j])) continue;
      group(branch, j);
      for (Group& found : groups_) {
        found.bound = found.sums.bound(branch, factor * space_.root_decay(found.example));
        found.taken = found.bound > 0 && !(found.bound * kSlack < threshold());
        if (!found.taken) {
          ++pruned;
          slot_[found.production] = -1;
          continue;
        }
        found.branch = begin(branch, j, factor, found, flat);
      }
      for (std::size_t o = 0; o < n; ++o) {
        const std::int32_t u = branch.node[o * n_open + j];
        const std::int32_t slot = slot_[space_.production(u)];
        if (slot < 0) continue;
        Branch& next = groups_[slot].branch;
        next.mass.push_back(branch.mass[o]);
        if (!branch.count.empty()) next.count.push_back(branch.count[o]);
        if (!flat) space_.for_inner_children(u, [&](std::int32_t child) { next.node.push_back(child); });
        const auto rest = branch.node.begin() + static_cast<std::ptrdiff_t>(o * n_open);
        next.node.insert(next.node.end(), rest + static_cast<std::ptrdiff_t>(j + 1),
                         rest + static_cast<std::ptrdiff_t>(n_open));
      }
      for (Group& found : groups_) {
        slot_[found.production] = -1;
        if (found.taken) visit(std::move(found.branch));
      }
    }
  }

 private:
  struct Group {
    std::int32_t production, example;
    Sums sums;
    double bound = 0.0;
    std::int64_t n = 0;
    bool taken = false;
    Branch branch;
  };

  // By occurrence and open node: the most that the nodes after it can multiply.
  void most_after(const Branch& branch) {
    const std::size_t n_open = branch.open.size(), n = branch.mass.size();
    after_.resize(n * n_open);
    for (std::size_t o = 0; o < n; ++o) {
      double most = 1.0;
      for (std::size_t k = n_open; k-- > 0;) {
        after_[o * n_open + k] = most;
        const Open& open = branch.open[k];
        most *= space_.may_expand(open) ? space_.reach(branch.node[o * n_open + k], open.keep) : open.keep;
      }
    }
  }

  void group(const Branch& branch, std::size_t j) {
    groups_.clear();
    const std::size_t n_open = branch.open.size();
    for (std::size_t o = 0; o < branch.mass.size(); ++o) {
      const std::int32_t u = branch.node[o * n_open + j], p = space_.production(u);
      if (slot_[p] < 0) {
        slot_[p] = static_cast<std::int32_t>(groups_.size());
        groups_.push_back({p, u, {}, 0.0, 0, false, {}});
      }
      Group& found = groups_[slot_[p]];
      found.sums.add(branch, o, space_.spread(u) * after_[o * n_open + j]);
      ++found.n;
    }
  }

  Branch begin(const Branch& branch, std::size_t j, double factor, const Group& found, bool flat) const {
    Branch next;
    next.code.reserve(branch.code.size() + j + 1);
    next.code = branch.code;
    next.code.insert(next.code.end(), j, -1);
    next.code.push_back(found.production);
    next.factor = factor * space_.root_decay(found.example);
    next.bound = found.bound;
    next.size = branch.size + 1;
    const double keep = space_.keep(found.example);
    space_.for_inner_children(found.example, [&](std::int32_t) {
      if (flat) {
        next.factor *= keep;
      } else {
        next.open.push_back({keep, branch.open[j].depth + 1});
      }
    });
    next.open.insert(next.open.end(), branch.open.begin() + static_cast<std::ptrdiff_t>(j + 1), branch.open.end());
    next.mass.reserve(found.n);
    next.node.reserve(found.n * next.open.size());
    return next;
  }

  const Space& space_;
  std::vector<std::int32_t> slot_;  // by production: its group, or -1
  std::vector<Group> groups_;
  std::vector<double> after_;
};

}  // namespace espalier::subset
