// Weights of hashed features: a table whose size is a power of two.
//
// Reading it is what a parser spends its time on, and nearly every read misses the cache. So a feature that comes with
// and without a distance keeps both weights in one line of the cache, and large tables lie in large pages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace espalier {

template <class T>
struct LargePages {
  using value_type = T;
  LargePages() = default;
  template <class U>
  LargePages(const LargePages<U>&) {}  // NOLINT: containers convert allocators

  T* allocate(std::size_t n) {
    constexpr std::size_t kLine = 64, kPage = std::size_t{1} << 21;
    const std::size_t bytes = n * sizeof(T), alignment = bytes < 2 * kPage ? kLine : kPage;
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* out = std::aligned_alloc(alignment, rounded);
    if (!out) throw std::bad_alloc();
#ifdef __linux__
    if (alignment == kPage) madvise(out, rounded, MADV_HUGEPAGE);
#endif
    return static_cast<T*>(out);
  }
  void deallocate(T* memory, std::size_t) { std::free(memory); }
  bool operator==(const LargePages&) const { return true; }
};

template <class T>
using LargeVector = std::vector<T, LargePages<T>>;

struct WeightView {
  const float* weight;
  int bits;  // of which there are at least 4

  // Features with one key and different slots, from 0 to 15, are neighbours.
  std::size_t place(std::uint64_t key, std::uint64_t slot) const {
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL >> (64 - bits)) ^ slot);
  }
  double at(std::uint64_t key, std::uint64_t slot) const { return weight[place(key, slot)]; }
};

}  // namespace espalier
