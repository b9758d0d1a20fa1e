// Lets one call at a time use a plan's buffers. A call from inside another, as from a progress callback, would
// wait for itself: it is refused.
#pragma once

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <thread>

namespace espalier {

class Gate {
 public:
  void enter() {
    if (inside_ == std::this_thread::get_id()) {
      throw std::logic_error("This plan is computing; a progress callback or signal handler must not use it.");
    }
    mutex_.lock();
    inside_ = std::this_thread::get_id();
  }
  void leave() {
    inside_ = std::thread::id();
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> inside_{};
};

class Entered {
 public:
  explicit Entered(Gate& gate) : gate_(gate) { gate_.enter(); }
  ~Entered() { gate_.leave(); }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;

 private:
  Gate& gate_;
};

}  // namespace espalier
