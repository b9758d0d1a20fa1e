// Threads: who works on what, errors in tasks, and how long a call waits for help.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "jobs/team.hpp"
#include "tests/checks.hpp"

using namespace espalier;
using namespace espalier::tests;

namespace {

void test_team() {
  std::vector<int> seen(1000, 0);
  {
    Team team(4, {});
    for (int round = 0; round < 20; ++round) team.run(1000, [&](std::int64_t task, int) { ++seen[task]; });
  }
  CHECK(std::all_of(seen.begin(), seen.end(), [](int n) { return n == 20; }));
  bool is_raised = false;
  try {
    Team team(3, {});
    team.run(100, [](std::int64_t task, int) {
      if (task == 50) throw std::runtime_error("in a task");
    });
  } catch (const std::runtime_error& error) {
    is_raised = std::string(error.what()) == "in a task";
  }
  CHECK(is_raised);
}

// The numbers of the workers that took part in a run of short tasks, or of one long one after the first.
std::set<int> workers_of(int patience, int task_microseconds) {
  const int before = Team::patience.exchange(patience);
  std::set<int> workers;
  std::mutex mutex;
  {
    Team team(3, {});
    CHECK(team.size() == 3);
    team.run(20, [&](std::int64_t, int worker) {
      std::this_thread::sleep_for(std::chrono::microseconds(task_microseconds));
      std::lock_guard lock(mutex);
      workers.insert(worker);
    });
  }
  Team::patience = before;
  return workers;
}

void test_patience() {
  CHECK(workers_of(1'000'000, 0) == std::set<int>{0});  // a short call is left to the thread that makes it
  CHECK(workers_of(1'000, 10'000).size() > 1);          // a long one is not
  CHECK(workers_of(0, 10'000).size() == 3);
}

}  // namespace

int main() {
  const std::vector<Test> tests = {
      {"team", test_team},
      {"patience", test_patience},
  };
  return run_all("team_tests", tests);
}
