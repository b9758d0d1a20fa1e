// The greedy search of Pighin and Moschitti (2009).
#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>
#include <utility>

#include "corpus/hashing.hpp"
#include "spaces/subset_tree_mining.hpp"
#include "spaces/subset_tree_space.hpp"

namespace espalier {

using namespace subset;

namespace {

// Fragments by their codes: where they occur, and their codes after some open nodes were expanded.
class Codes {
 public:
  Codes(const SubsetSearch& search, const Space& space) : search_(search), space_(space) {
    members_.resize(space.n_productions());
    n_inner_.resize(space.n_productions(), 0);
    for (std::int32_t u = 0; u < search.forest.n_subtrees; ++u) {
      const std::int32_t p = space.production(u);
      if (p < 0) continue;
      if (search.mass[u] != 0.0) members_[p].push_back(u);
      n_inner_[p] = 0;
      space.for_inner_children(u, [&](std::int32_t) { ++n_inner_[p]; });
    }
  }

  // The fragment with all its unexpanded nodes open, its code left out.
  Branch opened(const Code& code) const {
    Branch out;
    std::vector<Place> stack;
    std::vector<std::int32_t> nodes;
    for (std::int32_t u : members_[code.front()]) {
      nodes.clear();
      stack.assign(1, {u, 0.0, 0});
      double factor = 1.0;
      bool matches = true;
      for (std::int32_t decision : code) {
        const Place place = stack.back();
        stack.pop_back();
        if (decision < 0) {
          nodes.push_back(place.node);
          if (out.mass.empty()) out.open.push_back({place.keep, place.depth});
        } else if (space_.production(place.node) != decision) {
          matches = false;
          break;
        } else {
          factor *= space_.root_decay(place.node);
          const auto top = stack.size();
          space_.for_inner_children(place.node, [&](std::int32_t child) {
            stack.push_back({child, space_.keep(place.node), place.depth + 1});
          });
          std::reverse(stack.begin() + static_cast<std::ptrdiff_t>(top), stack.end());
        }
      }
      if (!matches) {
        if (out.mass.empty()) out.open.clear();
        continue;
      }
      out.factor = factor;
      out.mass.push_back(search_.mass[u]);
      out.node.insert(out.node.end(), nodes.begin(), nodes.end());
    }
    out.bound = std::numeric_limits<double>::infinity();
    out.size = static_cast<std::int32_t>(std::count_if(code.begin(), code.end(), [](auto d) { return d >= 0; }));
    return out;
  }

  // The code after decisions on its open nodes, from left to right; what they expand has children left unexpanded.
  Code spliced(const Code& code, const Code& decisions) const {
    Code out;
    std::size_t k = 0;
    for (std::int32_t decision : code) {
      if (decision >= 0) {
        out.push_back(decision);
        continue;
      }
      out.push_back(decisions[k]);
      if (decisions[k] >= 0) out.insert(out.end(), n_inner_[decisions[k]], -1);
      ++k;
    }
    return out;
  }

 private:
  struct Place {
    std::int32_t node;
    double keep;
    std::int32_t depth;
  };
  const SubsetSearch& search_;
  const Space& space_;
  std::vector<std::vector<std::int32_t>> members_;  // by production: subtrees with a mass
  std::vector<std::int64_t> n_inner_;               // by production
};

struct CodeHash {
  Hasher hasher;
  std::size_t operator()(const Code& code) const { return hasher(0, code.data(), std::ssize(code)); }
};

// The n best so far: who enters now is expanded, so that the worst of them must be known at any moment.
class Leaders {
 public:
  Leaders(std::int64_t n, MiningCounts& counts) : n_(n), counts_(counts) {}

  double threshold() const { return counts_.threshold.load(std::memory_order_relaxed); }
  // Whether the fragment entered.
  bool offer(double weight, const Code& code) {
    if (weight == 0.0 || std::abs(weight) < threshold()) return false;
    if (std::ssize(heap_) == n_) {
      if (!weighs_more({weight, code}, heap_.front())) return false;
      std::pop_heap(heap_.begin(), heap_.end(), weighs_more);
      heap_.back() = {weight, code};
    } else {
      heap_.push_back({weight, code});
      counts_.kept = std::ssize(heap_);
    }
    std::push_heap(heap_.begin(), heap_.end(), weighs_more);
    if (std::ssize(heap_) == n_) counts_.threshold = std::abs(heap_.front().weight);
    return true;
  }
  Mined finish() {
    Mined out = listed(std::move(heap_));
    out.bound = threshold();
    return out;
  }

 private:
  std::int64_t n_;
  MiningCounts& counts_;
  std::vector<WeighedCode> heap_;  // the worst in front
};

}  // namespace

Mined mine_greedy(const SubsetSearch& search, std::int64_t n, std::int64_t max_expansions, MiningCounts& counts,
                  Team& team) {
  const Space space(search, true);
  const Codes codes(search, space);
  Leaders best(n, counts);
  std::unordered_set<Code, CodeHash> seen;
  std::vector<std::pair<double, Code>> level, next_level;
  for (const Branch& branch : roots(search, space)) {
    const double weight = weight_of(branch);
    Code code = closed(branch);
    if (best.offer(weight, code)) level.emplace_back(std::abs(weight), std::move(code));
    ++counts.visited;
  }
  Expander expander(space);
  std::vector<Branch> stack;
  while (!level.empty()) {
    next_level.clear();
    team.run(std::ssize(level), [&](std::int64_t task, int worker) {
      const Code& code = level[task].second;  // no binding by structure: clang before 16 lets no lambda see one
      if (level[task].first < best.threshold()) return;  // pushed out by better ones of its own level
      std::int64_t looked = 0;
      stack.push_back(codes.opened(code));
      if (!space.may_grow(stack.back())) stack.pop_back();
      while (!stack.empty()) {
        if (++looked % 256 == 0) team.breathe(worker);
        const Branch branch = std::move(stack.back());
        stack.pop_back();
        std::int64_t pruned = 0;
        expander.expand(
            branch, true, [&] { return best.threshold(); }, pruned,
            [&](Branch&& next) {
              ++counts.visited;
              Code whole = codes.spliced(code, closed(next));
              const double weight = weight_of(next);
              const auto n_expanded = std::count_if(next.code.begin(), next.code.end(), [](auto d) { return d >= 0; });
              if (seen.insert(whole).second && best.offer(weight, whole)) {
                next_level.emplace_back(std::abs(weight), std::move(whole));
              }
              if (n_expanded < max_expansions && space.may_grow(next)) stack.push_back(std::move(next));
            });
        counts.pruned += pruned;
      }
    });
    level.swap(next_level);
  }
  Mined out = best.finish();
  out.complete = false;  // nothing is proven
  return out;
}

}  // namespace espalier
