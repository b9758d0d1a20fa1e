// A team of threads for the length of one call. Tasks are handed out one by one; the calling thread
// works too, and between its tasks asks `poll` whether to go on (for Ctrl-C and progress).
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace espalier {

struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

class Team {
 public:
  using Poll = std::function<bool(double)>;  // gets the fraction done, returns false to stop
  using Task = std::function<void(std::int64_t task, int worker)>;

  Team(int n_threads, Poll poll) : poll_(std::move(poll)) {
    try {
      for (int worker = 1; worker < n_threads; ++worker) threads_.emplace_back([this, worker] { serve(worker); });
    } catch (const std::system_error&) {
      // The system grants no more threads. Those that started suffice: results do not depend on their number.
    } catch (...) {
      close();
      throw;
    }
  }
  ~Team() { close(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const { return static_cast<int>(threads_.size()) + 1; }
  // The part of the whole job that the next runs stand for, for progress.
  void span(double from, double to) {
    from_ = from;
    to_ = to;
  }
  std::pair<double, double> span() const { return {from_, to_}; }
  // True once the call should end: long tasks look at it now and then.
  bool stopped() const { return stop_.load(std::memory_order_relaxed); }
  // For long tasks: lets the calling thread ask for signals while it is deep in one task.
  void breathe(int worker) {
    if (worker == 0) ask();
    if (stopped()) throw Interrupted();
  }

  void run(std::int64_t n_tasks, const Task& task) {
    if (n_tasks == 0) return;
    next_ = 0;
    n_tasks_ = n_tasks;
    task_ = &task;
    if (n_tasks > 1 && !threads_.empty()) {
      {
        std::lock_guard lock(mutex_);
        busy_ = static_cast<int>(threads_.size());
        ++round_;
      }
      wake_.notify_all();
      work(0);
      if (!soon([this] { return busy_ == 0; })) {
        // Others may have long tasks left: signals and progress are still asked for.
        std::unique_lock lock(mutex_);
        while (!idle_.wait_for(lock, std::chrono::milliseconds(50), [this] { return busy_ == 0; })) {
          lock.unlock();
          ask();
          lock.lock();
        }
      }
    } else {
      work(0);
    }
    if (error_) std::rethrow_exception(error_);
    if (stopped()) throw Interrupted();
  }

 private:
  // Looks for a short while before anybody sleeps: a matrix has dozens of rounds, often shorter than waking up.
  template <class Condition>
  static bool soon(const Condition& condition) {
    for (int look = 0; look < 4000; ++look) {
      if (condition()) return true;
      if (look % 64 == 63) std::this_thread::yield();
    }
    return false;
  }
  void ask() {
    const auto now = std::chrono::steady_clock::now();
    if (now - asked_ < std::chrono::milliseconds(50)) return;
    asked_ = now;
    const double done = n_tasks_ ? static_cast<double>(std::min(next_.load(), n_tasks_)) / n_tasks_ : 0.0;
    shown_ = std::max(shown_, from_ + (to_ - from_) * done);
    if (poll_ && !poll_(shown_)) stop_ = true;
  }
  void work(int worker) {
    try {
      for (;;) {
        const std::int64_t task = next_.fetch_add(1, std::memory_order_relaxed);
        if (task >= n_tasks_ || stopped()) return;
        (*task_)(task, worker);
        if (worker == 0) ask();
      }
    } catch (...) {
      std::lock_guard lock(mutex_);
      if (!error_) error_ = std::current_exception();
      stop_ = true;
    }
  }
  void close() {
    {
      std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    for (auto& thread : threads_) thread.join();
  }
  void serve(int worker) {
    std::int64_t seen = 0;
    const auto called = [&] { return closing_ || round_ != seen; };
    for (;;) {
      if (!soon(called)) {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, called);
      }
      if (closing_) return;
      seen = round_;
      work(worker);
      if (--busy_ == 0) {
        std::lock_guard lock(mutex_);  // or the notice could fall between the caller's look and its sleep
        idle_.notify_one();
      }
    }
  }

  // What `run` sets before it raises round_ is read by workers after they saw round_ change; it changes again only
  // after busy_ fell to 0. What `ask` reads belongs to the calling thread.
  Poll poll_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::int64_t n_tasks_ = 0;
  std::atomic<std::int64_t> round_{0};
  std::atomic<int> busy_{0};
  std::atomic<bool> closing_{false};
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;
  const Task* task_ = nullptr;
  double from_ = 0.0, to_ = 1.0, shown_ = 0.0;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
  std::vector<std::thread> threads_;  // last: they use all of the above from their first moment
};

}  // namespace espalier
