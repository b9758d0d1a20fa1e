// Memory that is not touched before it is written, kept between calls.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include "jobs/team.hpp"

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace espalier {

class Buffer {
 public:
  // Large buffers ask for large pages: touching memory for the first time otherwise costs as much as the work. Each
  // page is touched by one thread of the team: where two do so at once, the system falls back to small pages.
  double* reserve(std::int64_t n, Team& team) {
    if (n <= size_) return data_.get();
    release();
    constexpr std::size_t page = std::size_t{1} << 21;
    const std::size_t bytes = static_cast<std::size_t>(n) * sizeof(double);
    const std::size_t alignment = bytes < 2 * page ? 64 : page;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    data_.reset(static_cast<double*>(std::aligned_alloc(alignment, rounded)));
    if (!data_) throw std::bad_alloc();
#ifdef __linux__
    if (alignment == page) madvise(data_.get(), rounded, MADV_HUGEPAGE);
#endif
    size_ = n;
    if (alignment == page) {
      team.run(static_cast<std::int64_t>(rounded / page), [&](std::int64_t task, int) {
        data_.get()[task * static_cast<std::int64_t>(page / sizeof(double))] = 0.0;
      });
    }
    return data_.get();
  }
  double* data() const { return data_.get(); }
  void release() {
    size_ = 0;  // first: a process may be forked here, and its child uses the buffer
    data_.reset();
  }

 private:
  struct Free {
    void operator()(double* memory) const { std::free(memory); }
  };
  std::unique_ptr<double, Free> data_;
  std::int64_t size_ = 0;
};

}  // namespace espalier
