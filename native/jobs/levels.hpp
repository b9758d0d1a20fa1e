// Runs work level by level: no task of a level starts before those of the level before it have ended.
#pragma once

#include <algorithm>
#include <cstdint>

#include "jobs/team.hpp"

namespace espalier {

// Calls work(level, task, worker) for every task of every level; progress follows the number of tasks.
template <class Levels, class CountTasks, class Work>
void run_levels(const Levels& levels, Team& team, const CountTasks& count_tasks, const Work& work) {
  std::int64_t n_tasks = 0, done = 0;
  for (const auto& level : levels) n_tasks += count_tasks(level);
  const auto [from, to] = team.span();
  const double part = (to - from) / static_cast<double>(std::max<std::int64_t>(n_tasks, 1));
  for (const auto& level : levels) {
    const std::int64_t before = done, n = count_tasks(level);
    done += n;
    team.span(from + part * static_cast<double>(before), from + part * static_cast<double>(done));
    team.run(n, [&](std::int64_t task, int worker) { work(level, task, worker); });
  }
}

}  // namespace espalier
