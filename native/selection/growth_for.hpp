// Growths of each kind of graphs, and loops over examples.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "jobs/team.hpp"
#include "selection/slot_growth.hpp"
#include "selection/subtree_growth.hpp"

namespace espalier {

inline constexpr std::int64_t kRun = 8;  // examples of a task

template <class Graphs, class See>
void each_example(const Graphs& graphs, Team& team, const See& see) {
  const std::int64_t n = graphs.size();
  team.run((n + kRun - 1) / kRun, [&](std::int64_t task, int worker) {
    for (std::int64_t example = task * kRun; example < std::min(n, (task + 1) * kRun); ++example) see(example, worker);
  });
}

template <class Graphs>
std::vector<typename Graphs::Growth> growths(const Growing& growing, const Team& team) {
  return std::vector<typename Graphs::Growth>(static_cast<std::size_t>(team.size()), typename Graphs::Growth(growing));
}

}  // namespace espalier
