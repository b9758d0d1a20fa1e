// The search that mining shares: depth first from every root, best bounds first, in as many threads as there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "jobs/team.hpp"
#include "spaces/mined.hpp"

namespace espalier {

constexpr double kSlack = 1 + 1e-10;  // a bound is a sum in another order than the weight that it bounds

struct MiningLimits {
  std::int64_t max_visits;  // after so many fragments the search gives up
  std::int64_t memory;      // bytes of the branches that wait
};

// A branch has a `bound`, which no fragment that grows from it passes, and says its `bytes()`. `expand(branch, worker,
// findings, visit)` weighs all fragments that are one step larger, tells `findings` of them, and calls visit(Branch&&)
// for those that may grow. The first branches were offered before.
//
// What is found does not depend on the number of threads where there is no limit of visits; with a limit there must be
// one thread.
template <class Branch, class Expand>
Mined branch_and_bound(std::vector<Branch> first, const Expand& expand, Best& best, const MiningLimits& limits,
                       MiningCounts& counts, Team& team) {
  const auto better = [](const Branch& a, const Branch& b) { return a.bound > b.bound; };
  std::stable_sort(first.begin(), first.end(), better);
  std::vector<double> given_up(team.size(), 0.0);
  std::vector<Findings> of_worker(team.size(), Findings(best, counts));
  std::atomic<std::int64_t> waiting{0};
  team.run(std::ssize(first), [&](std::int64_t task, int worker) {
    Findings& findings = of_worker[worker];
    std::vector<Branch> stack, found;
    std::int64_t own_waiting = 0, told_waiting = 0;
    const auto report = [&] {
      findings.report();
      waiting += own_waiting - told_waiting;
      told_waiting = own_waiting;
    };
    const auto push = [&](Branch&& branch) {
      own_waiting += branch.bytes();
      stack.push_back(std::move(branch));
    };
    push(std::move(first[task]));
    for (std::int64_t looked = 1; !stack.empty(); ++looked) {
      if (looked % 16 == 0) {
        report();
        team.breathe(worker);
      }
      const Branch branch = std::move(stack.back());
      stack.pop_back();
      own_waiting -= branch.bytes();
      if (branch.bound == 0.0 || branch.bound * kSlack < best.threshold()) {
        findings.prune(1);
        continue;
      }
      if (findings.n_visited() >= limits.max_visits) {
        given_up[worker] = std::max(given_up[worker], branch.bound);
        continue;
      }
      found.clear();
      expand(branch, worker, findings, [&](Branch&& next) { found.push_back(std::move(next)); });
      // The most promising on top of the stack.
      std::stable_sort(found.begin(), found.end(), [&](const Branch& a, const Branch& b) { return better(b, a); });
      for (Branch& next : found) push(std::move(next));
      if (waiting.load(std::memory_order_relaxed) + own_waiting - told_waiting > limits.memory) throw std::bad_alloc();
    }
    report();
  });
  Mined out = best.finish();
  for (double bound : given_up) {
    out.complete = out.complete && bound == 0.0;
    out.bound = std::max(out.bound, bound);
  }
  return out;
}

}  // namespace espalier
