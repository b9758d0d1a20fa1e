// Writing lines of the cache to memory from which they are read much later.
#pragma once

#include <cstdint>
#include <cstring>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace espalier {

inline constexpr int kLine = 8;  // words of a line

// Copies a line between places that begin one. An ordinary write would first read the line that it replaces, and keep
// the new one in the cache. The next locked instruction of this thread makes it visible to others, so whoever hands on
// what was written must use one: a mutex, or an atomic `fetch_add` as that of a team.
inline void stream_line(std::uint64_t* to, const std::uint64_t* from) {
#ifdef __SSE2__
  constexpr int kWords = 2;  // written at once
  for (int k = 0; k < kLine; k += kWords) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + k), _mm_load_si128(reinterpret_cast<const __m128i*>(from + k)));
  }
#else
  std::memcpy(to, from, kLine * sizeof(std::uint64_t));
#endif
}

}  // namespace espalier
