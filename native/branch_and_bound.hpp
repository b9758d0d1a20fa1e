// The search that mining shares: depth first from every root, best bounds first, in as many threads as there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "mined.hpp"
#include "team.hpp"

namespace espalier {

constexpr double kSlack = 1 + 1e-10;  // a bound is a sum in another order than the weight that it bounds

struct MiningLimits {
  std::int64_t max_visits;  // after so many fragments the search gives up
  std::int64_t memory;      // bytes of the branches that wait
};

// A branch has a `bound`, which no fragment that grows from it passes, and says its `bytes()`. `expand(branch, worker,
// visit)` weighs and offers all fragments that are one step larger, and calls visit(Branch&&) for those that may grow.
// The first branches were offered before.
template <class Branch, class Expand>
Mined branch_and_bound(std::vector<Branch> first, const Expand& expand, Best& best, const MiningLimits& limits,
                       MiningCounts& counts, Team& team) {
  const auto better = [](const Branch& a, const Branch& b) { return a.bound > b.bound; };
  std::stable_sort(first.begin(), first.end(), better);
  std::vector<double> given_up(team.size(), 0.0);
  std::atomic<std::int64_t> waiting{0};
  team.run(std::ssize(first), [&](std::int64_t task, int worker) {
    std::vector<Branch> stack, found;
    const auto push = [&](Branch&& branch) {
      waiting += branch.bytes();
      stack.push_back(std::move(branch));
    };
    push(std::move(first[task]));
    for (std::int64_t looked = 1; !stack.empty(); ++looked) {
      if (looked % 16 == 0) team.breathe(worker);
      const Branch branch = std::move(stack.back());
      stack.pop_back();
      waiting -= branch.bytes();
      if (branch.bound == 0.0 || branch.bound * kSlack < best.threshold()) {
        ++counts.pruned;
        continue;
      }
      if (counts.visited >= limits.max_visits) {
        given_up[worker] = std::max(given_up[worker], branch.bound);
        continue;
      }
      found.clear();
      expand(branch, worker, [&](Branch&& next) { found.push_back(std::move(next)); });
      // The most promising on top of the stack.
      std::stable_sort(found.begin(), found.end(), [&](const Branch& a, const Branch& b) { return better(b, a); });
      for (Branch& next : found) push(std::move(next));
      if (waiting > limits.memory) throw std::bad_alloc();
    }
  });
  Mined out = best.finish();
  for (double bound : given_up) {
    out.complete = out.complete && bound == 0.0;
    out.bound = std::max(out.bound, bound);
  }
  return out;
}

}  // namespace espalier
