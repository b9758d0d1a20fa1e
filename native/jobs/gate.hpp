// Lets one call at a time use a plan's buffers. A call from inside another, as from a progress callback, would
// wait for itself: it is refused. A process that is forked while a thread is inside gets open gates: that thread does
// not exist in the child, and nobody else would open them.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <thread>

#ifndef _WIN32
#include <pthread.h>
#endif

namespace espalier {

class Gate {
 public:
  Gate() {
    const std::lock_guard lock(all().mutex);
    next_ = all().first;
    if (next_) next_->previous_ = this;
    all().first = this;
  }
  ~Gate() {
    const std::lock_guard lock(all().mutex);
    (previous_ ? previous_->next_ : all().first) = next_;
    if (next_) next_->previous_ = previous_;
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

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
  // All gates of the process, linked to one another. Its own lock is held while the process forks.
  struct Gates {
    std::mutex mutex;
    Gate* first = nullptr;

    Gates() {
#ifndef _WIN32
      pthread_atfork([] { all().mutex.lock(); }, [] { all().mutex.unlock(); }, [] { all().open_in_child(); });
#endif
    }
    void open_in_child() {
      for (Gate* gate = first; gate; gate = gate->next_) {
        // One who forks from inside, as in a progress callback, is inside in the child too.
        if (gate->inside_ == std::this_thread::get_id()) continue;
        std::construct_at(&gate->mutex_);
        gate->inside_ = std::thread::id();
      }
      mutex.unlock();
    }
  };
  static Gates& all() {
    static auto* gates = new Gates;  // never destroyed: gates of plans may outlive any order of destruction
    return *gates;
  }

  std::mutex mutex_;
  std::atomic<std::thread::id> inside_{};
  Gate *previous_ = nullptr, *next_ = nullptr;
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
