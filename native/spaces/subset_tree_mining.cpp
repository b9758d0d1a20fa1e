#include "spaces/subset_tree_mining.hpp"

#include <utility>
#include <vector>

#include "spaces/branch_and_bound.hpp"
#include "spaces/subset_tree_space.hpp"

namespace espalier {

using namespace subset;

Mined mine_exact(const SubsetSearch& search, std::int64_t n, const MiningLimits& limits, MiningCounts& counts,
                 Team& team) {
  const Space space(search, false);
  Best best(n, counts);
  std::vector<Branch> first = roots(search, space);
  Findings findings(best, counts);
  for (const Branch& branch : first) findings.visit(weight_of(branch), [&] { return closed(branch); });
  findings.report();
  std::erase_if(first, [&](const Branch& branch) { return !space.may_grow(branch); });
  std::vector<Expander> expanders(team.size(), Expander(space));
  const auto expand = [&](const Branch& branch, int worker, Findings& own, const auto& visit) {
    std::int64_t pruned = 0;
    expanders[worker].expand(
        branch, false, [&] { return best.threshold(); }, pruned,
        [&](Branch&& next) {
          own.visit(weight_of(next), [&] { return closed(next); });
          if (space.may_grow(next)) visit(std::move(next));
        });
    own.prune(pruned);
  };
  return branch_and_bound(std::move(first), expand, best, limits, counts, team);
}

}  // namespace espalier
