// Lets one worker stop in the middle of a long task: it counts its steps, and asks its team now and then.
#pragma once

#include <cstdint>

#include "jobs/team.hpp"

namespace espalier {

class Pace {
 public:
  Pace(Team& team, int worker) : team_(team), worker_(worker) {}

  // Says that about n steps are done, each of some nanoseconds; throws where the call should end.
  void step(std::int64_t n = 1) {
    left_ -= n;
    if (left_ > 0) return;
    left_ = kSteps;
    team_.breathe(worker_);
  }

 private:
  static constexpr std::int64_t kSteps = 1 << 20;  // some milliseconds: looking at the clock then costs nothing

  Team& team_;
  int worker_;
  std::int64_t left_ = kSteps;
};

}  // namespace espalier
