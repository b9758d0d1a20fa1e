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

// A pool of at most n fragments. What it holds in the end does not depend on the order of what was offered.
class Best {
 public:
  Best(std::int64_t n, MiningCounts& counts) : n_(n), counts_(counts) {}

  // The magnitude below which nothing can enter; 0 while there is room.
  double threshold() const { return counts_.threshold.load(std::memory_order_relaxed); }

  // Whether the fragment entered.
  bool offer(double weight, const Code& code) {
    if (weight == 0.0 || std::abs(weight) < threshold()) return false;
    std::lock_guard lock(mutex_);
    if (std::ssize(pool_) == n_) {
      if (!better({weight, code}, pool_.front())) return false;
      std::pop_heap(pool_.begin(), pool_.end(), better);
      pool_.back() = {weight, code};
    } else {
      pool_.push_back({weight, code});
      counts_.kept = std::ssize(pool_);
    }
    std::push_heap(pool_.begin(), pool_.end(), better);
    if (std::ssize(pool_) == n_) counts_.threshold = std::abs(pool_.front().weight);
    return true;
  }

  Mined finish() {
    std::sort(pool_.begin(), pool_.end(), better);
    Mined out;
    out.start.push_back(0);
    for (const Entry& entry : pool_) {
      out.weight.push_back(entry.weight);
      out.code.insert(out.code.end(), entry.code.begin(), entry.code.end());
      out.start.push_back(std::ssize(out.code));
    }
    out.bound = threshold();
    return out;
  }

 private:
  struct Entry {
    double weight;
    Code code;
  };
  static bool better(const Entry& a, const Entry& b) {
    const double x = std::abs(a.weight), y = std::abs(b.weight);
    return x != y ? x > y : a.code < b.code;
  }

  std::int64_t n_;
  MiningCounts& counts_;
  std::mutex mutex_;
  std::vector<Entry> pool_;  // a heap with the worst in front
};

}  // namespace espalier
