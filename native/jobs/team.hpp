// A team of threads for the length of one call. Tasks are handed out one by one; the calling thread
// works too, and between its tasks asks `poll` whether to go on (for Ctrl-C and progress).
//
// Threads must not make anything slower. Starting one takes about 20 microseconds, so the calling thread begins alone
// and starts one helper for each `patience` that the call has lasted. Helpers that the system has not yet run when the
// tasks are all taken are not waited for. Where other processes took the core of a helper in the middle of a task, or
// when it was to end, and the calling thread had to wait for it, no team of this process calls helpers for twenty times
// as long: waiting costs a twentieth at most. No result depends on who did a task.
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

#ifdef __linux__
#include <sys/resource.h>
#endif

namespace espalier {

// How long the system ran others in place of this thread since this was made; 0 where it does not say.
class Stolen {
 public:
  std::chrono::nanoseconds so_far() const {
    const Use now = use();
    if (now.preemptions == then_.preemptions) return std::chrono::nanoseconds(0);
    return std::max(std::chrono::nanoseconds(0), (now.wall - then_.wall) - (now.cpu - then_.cpu));
  }

 private:
  struct Use {
    std::chrono::nanoseconds wall{0}, cpu{0};
    long preemptions = 0;
  };
  static Use use() {
#ifdef __linux__
    rusage spent{};
    getrusage(RUSAGE_THREAD, &spent);
    const auto seconds = std::chrono::seconds(spent.ru_utime.tv_sec + spent.ru_stime.tv_sec);
    const auto rest = std::chrono::microseconds(spent.ru_utime.tv_usec + spent.ru_stime.tv_usec);
    return {std::chrono::steady_clock::now().time_since_epoch(), seconds + rest, spent.ru_nivcsw};
#else
    return {};
#endif
  }

  const Use then_ = use();
};

struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

class Team {
 public:
  using Poll = std::function<bool(double)>;  // gets the fraction done, returns false to stop
  using Task = std::function<void(std::int64_t task, int worker)>;

  // In microseconds, for all teams of the process. Tests take 0: then all helpers begin every round, however small.
#ifdef ESPALIER_PATIENCE
  static inline std::atomic<int> patience{ESPALIER_PATIENCE};
#else
  static inline std::atomic<int> patience{200};
#endif

  Team(int n_threads, Poll poll)
      : poll_(std::move(poll)), n_helpers_(std::max(n_threads, 1) - 1), patience_(patience.load()) {}
  ~Team() { close(); }
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  // How many workers there can be; their numbers are below this.
  int size() const { return n_helpers_ + 1; }
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
    if (worker == 0) look_around();
    if (stopped()) throw Interrupted();
  }

  void run(std::int64_t n_tasks, const Task& task) {
    if (n_tasks == 0) return;
    next_ = 0;
    n_tasks_ = n_tasks;
    task_ = &task;
    called_ = false;
    round_began_ = Clock::now();
    call_helpers(round_began_);
    while (patience_.count() == 0 && entered_ < std::ssize(threads_) && open_ != 0) std::this_thread::yield();
    work(0);
    if (open_ != 0) end_round();
    if (error_) std::rethrow_exception(error_);
    if (stopped()) throw Interrupted();
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::seconds kMostCrowded{1};
  static constexpr std::chrono::microseconds kSlowEnd{300};  // on a free core a helper ends in a tenth of that
  static inline std::atomic<Clock::rep> crowded_until_{0};

  // Looks for some 10 microseconds before anybody sleeps: a matrix has dozens of rounds, often shorter than waking up.
  template <class Condition>
  static bool soon(const Condition& condition) {
    for (int look = 0; look < 300; ++look) {
      if (condition()) return true;
#if defined(__x86_64__)
      __builtin_ia32_pause();
#elif defined(__aarch64__)
      asm volatile("yield");
#endif
    }
    return false;
  }
  // What the calling thread does between its tasks, and now and then in a long one.
  void look_around() {
    const auto now = Clock::now();
    call_helpers(now);
    ask(now);
  }
  void call_helpers(Clock::time_point now) {
    if (n_helpers_ == 0 || n_tasks_ < 2 || next_.load(std::memory_order_relaxed) >= n_tasks_) return;
    if (stopped()) return;
    if (patience_.count() > 0 && now.time_since_epoch().count() < crowded_until_) return;
    if (open_ == 0) {
      std::lock_guard lock(mutex_);
      open_ = ++round_;
      entered_ = 0;
    }
    if (!called_ && now - round_began_ >= patience_ / 10) {
      called_ = true;
      if (asleep_ > 0) wake_.notify_all();
    }
    while (!refused_ && std::ssize(threads_) < n_helpers_ &&
           now - began_ >= patience_ * std::ssize(threads_) + patience_) {
      try {
        threads_.emplace_back([this, worker = static_cast<int>(threads_.size()) + 1] { serve(worker); });
      } catch (const std::system_error&) {
        refused_ = true;  // the system grants no more threads; those that started suffice
      }
    }
  }
  // No helper begins any more; those at work are waited for.
  void end_round() {
    {
      std::lock_guard lock(mutex_);
      open_ = 0;
    }
    const auto done = [this] { return inside_ == 0; };
    const auto began = Clock::now();
    if (soon(done)) return;
    // Others may have long tasks left: signals and progress are still asked for.
    std::unique_lock lock(mutex_);
    while (!idle_.wait_for(lock, std::chrono::milliseconds(50), done)) {
      lock.unlock();
      ask(Clock::now());
      lock.lock();
    }
    const auto now = Clock::now();
    const std::chrono::nanoseconds lost = std::min<std::chrono::nanoseconds>(stolen_, now - began);
    if (lost.count() > 0) leave_helpers_alone(now, lost);
  }
  // Others need the cores: no helper is called for twenty times as long as was lost.
  static void leave_helpers_alone(Clock::time_point now, Clock::duration lost) {
    crowded_until_ = (now + std::min<Clock::duration>(20 * lost, kMostCrowded)).time_since_epoch().count();
  }
  void ask(Clock::time_point now) {
    if (now - asked_ < std::chrono::milliseconds(50)) return;
    asked_ = now;
    const double done =
        n_tasks_ ? static_cast<double>(std::min(next_.load(), n_tasks_)) / static_cast<double>(n_tasks_) : 0.0;
    shown_ = std::max(shown_, from_ + (to_ - from_) * done);
    if (poll_ && !poll_(shown_)) stop_ = true;
  }
  void work(int worker) {
    try {
      for (;;) {
        const std::int64_t task = next_.fetch_add(1, std::memory_order_relaxed);
        if (task >= n_tasks_ || stopped()) return;
        (*task_)(task, worker);
        if (worker == 0) look_around();
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
    if (threads_.empty()) return;
    const auto began = Clock::now();
    for (auto& thread : threads_) thread.join();
    // A helper must run once more to end, and for that it needs a core.
    const auto now = Clock::now();
    if (now - began > kSlowEnd) leave_helpers_alone(now, now - began);
  }
  void serve(int worker) {
    std::int64_t seen = 0;
    const auto called = [&] {
      const std::int64_t round = open_;
      return closing_ || (round != 0 && round != seen);
    };
    for (;;) {
      soon(called);
      {
        std::unique_lock lock(mutex_);
        ++asleep_;
        wake_.wait(lock, called);
        --asleep_;
        if (closing_) return;
        seen = open_;
        ++inside_;
        if (++entered_ == 1) stolen_ = std::chrono::nanoseconds(0);
      }
      const Stolen stolen;
      work(worker);
      const auto taken = stolen.so_far();
      std::lock_guard lock(mutex_);  // or the notice could fall between the caller's look and its sleep
      stolen_ = std::max(stolen_, taken);
      if (--inside_ == 0) idle_.notify_one();
    }
  }

  // What `run` sets before it opens a round is read by helpers after they saw it open, under the mutex; it changes
  // again only after the round was closed and nobody was inside. What `look_around` uses belongs to the calling thread.
  Poll poll_;
  int n_helpers_;
  std::chrono::microseconds patience_;
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::int64_t n_tasks_ = 0, round_ = 0;
  std::atomic<std::int64_t> open_{0};                    // the round that helpers may enter, or 0
  std::chrono::nanoseconds stolen_{0};                   // from a helper in this round, at most
  std::atomic<int> entered_{0}, inside_{0}, asleep_{0};  // helpers, in this round and now
  std::atomic<bool> closing_{false};
  std::atomic<std::int64_t> next_{0};
  std::atomic<bool> stop_{false};
  std::exception_ptr error_;
  const Task* task_ = nullptr;
  bool called_ = false;  // sleeping helpers, in this round
  bool refused_ = false;
  double from_ = 0.0, to_ = 1.0, shown_ = 0.0;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point asked_ = began_, round_began_ = began_;
  std::vector<std::thread> threads_;  // last: they use all of the above from their first moment
};

}  // namespace espalier
