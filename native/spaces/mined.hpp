// The best fragments seen so far by all threads, and what a search tells about itself.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace espalier {

using Code = std::vector<std::int32_t>;

struct Mined {
  std::vector<double> weight;       // the largest magnitude first, equal ones by code
  std::vector<std::int64_t> start;  // by fragment, into code
  Code code;
  double bound = 0.0;    // no fragment that was left out weighs more
  bool complete = true;  // false where the search gave up at its limit of visits
};

// Read by a progress callback while the search runs.
struct MiningCounts {
  std::atomic<std::int64_t> visited{0};  // fragments whose weight was computed
  std::atomic<std::int64_t> pruned{0};   // fragments whose extensions were ruled out by a bound
  std::atomic<std::int64_t> kept{0};
  std::atomic<double> threshold{0.0};  // the magnitude that a new fragment must reach
};

struct WeighedCode {
  double weight;
  Code code;
};

// By magnitude, equal ones by code.
inline bool weighs_more(const WeighedCode& a, const WeighedCode& b) {
  const double x = std::abs(a.weight), y = std::abs(b.weight);
  return x != y ? x > y : a.code < b.code;
}

inline Mined listed(std::vector<WeighedCode>&& found) {
  std::sort(found.begin(), found.end(), weighs_more);
  Mined out;
  out.start.push_back(0);
  for (const WeighedCode& own : found) {
    out.weight.push_back(own.weight);
    out.code.insert(out.code.end(), own.code.begin(), own.code.end());
    out.start.push_back(std::ssize(out.code));
  }
  return out;
}

// A pool of at most n fragments. What it holds in the end does not depend on the order of what was offered. Now and then
// a surplus is cut off: that takes a few comparisons for each fragment, where a heap takes many.
class Best {
 public:
  Best(std::int64_t n, MiningCounts& counts) : n_(n), surplus_(n / 8 + 1), counts_(counts) {}

  std::int64_t n() const { return n_; }
  // A magnitude below which nothing can enter; 0 while there is room.
  double threshold() const { return counts_.threshold.load(std::memory_order_relaxed); }
  bool may_enter(double weight) const { return weight != 0.0 && !(std::abs(weight) < threshold()); }

  // All of them, and leaves none.
  void offer(std::vector<WeighedCode>& found) {
    std::lock_guard lock(mutex_);
    for (WeighedCode& own : found) {
      if (!may_enter(own.weight)) continue;  // the threshold may have risen since the worker looked
      pool_.push_back(std::move(own));
      if (std::ssize(pool_) == n_ || std::ssize(pool_) == n_ + surplus_) cut();
    }
    found.clear();
    counts_.kept = std::min(n_, std::ssize(pool_));
  }

  Mined finish() {
    if (std::ssize(pool_) >= n_) cut();
    Mined out = listed(std::move(pool_));
    out.bound = threshold();
    return out;
  }

 private:
  void cut() {
    const auto last = pool_.begin() + (n_ - 1);
    std::nth_element(pool_.begin(), last, pool_.end(), weighs_more);
    pool_.resize(n_);
    counts_.threshold = std::abs(last->weight);
  }

  std::int64_t n_, surplus_;
  MiningCounts& counts_;
  std::mutex mutex_;
  std::vector<WeighedCode> pool_;
};

// What one worker found and counted, handed over many at a time. A lock or a shared counter for each fragment would
// make two workers slower than one.
class Findings {
 public:
  Findings(Best& best, MiningCounts& counts)
      : best_(&best), counts_(&counts), most_(std::clamp<std::int64_t>(best.n() / 16, 1, 256)) {}

  // `code()` makes the decisions of the fragment, which most fragments never need.
  template <class MakeCode>
  void visit(double weight, const MakeCode& code) {
    ++visited_;
    if (!best_->may_enter(weight)) return;
    waiting_.push_back({weight, code()});
    if (std::ssize(waiting_) == most_) best_->offer(waiting_);
  }
  void prune(std::int64_t n) { pruned_ += n; }
  // By all workers that have reported, and by this one.
  std::int64_t n_visited() const { return counts_->visited.load(std::memory_order_relaxed) + visited_; }
  void report() {
    if (!waiting_.empty()) best_->offer(waiting_);
    counts_->visited += std::exchange(visited_, 0);
    counts_->pruned += std::exchange(pruned_, 0);
  }

 private:
  Best* best_;
  MiningCounts* counts_;
  std::int64_t most_, visited_ = 0, pruned_ = 0;
  std::vector<WeighedCode> waiting_;
};

}  // namespace espalier
