// Whom work in one thread asks now and then whether to go on, as for Ctrl-C.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

namespace espalier {

class Listener {
 public:
  Listener() = default;
  explicit Listener(std::function<void()> ask) : ask_(std::move(ask)) {}  // throws where the work should end

  // Says that about n bytes are read, or n nodes visited.
  void step(std::int64_t n) {
    left_ -= n;
    if (left_ > 0) return;
    left_ = kBytes;
    if (ask_) ask_();
  }

 private:
  static constexpr std::int64_t kBytes = 1 << 18;

  std::function<void()> ask_;
  std::int64_t left_ = kBytes;
};

}  // namespace espalier
