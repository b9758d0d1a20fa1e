// Additions to one array by tasks that run side by side, applied in the order of the tasks, so that every bit of
// the result is the same for any number of threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "jobs/team.hpp"

namespace espalier {

struct Push {
  std::int64_t index;
  double value;
};

class Pushes {
 public:
  Pushes(std::int64_t n_tasks, double* to) : to_(to), ended_(n_tasks + 1, 0), lists_(n_tasks) {}

  // Called by a task now and then: applies its list where no earlier task runs, and bounds its length.
  void keep_few(std::int64_t task, std::vector<Push>& list, Team& team, int worker) {
    if (list.size() < kSome) return;
    if (list.size() >= kMost) wait(task, team, worker);
    if (has_turn(task)) apply(list);
  }
  // Called once, when a task is done. Its list is applied now, or by the task whose turn it is.
  void end(std::int64_t task, std::vector<Push>& list, Team& team, int worker) {
    if (n_parked_.load(std::memory_order_relaxed) >= kMost) wait(task, team, worker);
    std::unique_lock lock(mutex_);
    ended_[task] = 1;
    n_parked_ += list.size();
    std::swap(lists_[task], list);
    // The turn passes on only here, under the lock, and only over tasks that have ended.
    for (std::int64_t next = task; has_turn(next) && ended_[next];) {
      std::vector<Push> parked = std::move(lists_[next]);
      n_parked_ -= parked.size();
      lock.unlock();
      apply(parked);
      lock.lock();
      spare_.push_back(std::move(parked));
      turn_.store(++next, std::memory_order_release);
    }
    if (spare_.empty()) return;
    std::swap(list, spare_.back());
    spare_.pop_back();
  }

 private:
  static constexpr std::size_t kSome = 1 << 14;  // fits the cache
  static constexpr std::size_t kMost = 1 << 21;

  bool has_turn(std::int64_t task) const { return turn_.load(std::memory_order_acquire) == task; }
  // Tasks are handed out in order, so a task whose turn it is runs or has ended.
  void wait(std::int64_t task, Team& team, int worker) const {
    while (!has_turn(task)) {
      team.breathe(worker);
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
  void apply(std::vector<Push>& list) {
    for (const Push& push : list) to_[push.index] += push.value;
    list.clear();
  }

  double* to_;
  std::atomic<std::int64_t> turn_{0};  // every earlier task has ended and been applied
  std::atomic<std::size_t> n_parked_{0};
  std::mutex mutex_;
  std::vector<char> ended_;                       // by task, and a last one that never ends
  std::vector<std::vector<Push>> lists_, spare_;  // of tasks that ended before their turn; and empty ones
};

// Runs tasks that add to one array; work(task, scratch, worker) lists what it adds in scratch.pushes.
template <class Scratch, class Work>
void run_pushing(std::int64_t n_tasks, double* to, std::vector<Scratch>& scratch, Team& team, const Work& work) {
  Pushes pushes(n_tasks, to);
  team.run(n_tasks, [&](std::int64_t task, int worker) {
    Scratch& mine = scratch[worker];
    mine.keep_pushes_few = [&] { pushes.keep_few(task, mine.pushes, team, worker); };
    work(task, mine, worker);
    pushes.end(task, mine.pushes, team, worker);
  });
}

}  // namespace espalier
