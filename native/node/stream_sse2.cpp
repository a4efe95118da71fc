#ifdef __x86_64__

#include <immintrin.h>

#include "node/stream_kernels.hpp"

namespace wulf::node {
namespace {

struct Vector {
  using Type = __m128d;
  static constexpr std::size_t kLanes = 2;
  static Type set(double value) noexcept { return _mm_set1_pd(value); }
  static Type load(const double* at) noexcept { return _mm_load_pd(at); }
  static Type add(Type x, Type y) noexcept { return x + y; }
  static Type multiply(Type x, Type y) noexcept { return x * y; }
  static Type multiply_add(Type x, Type y, Type z) noexcept { return (x * y) + z; }
  static void store(double* at, Type value) noexcept { _mm_store_pd(at, value); }
  static void stream(double* at, Type first, Type second) noexcept {
    _mm_stream_pd(at, first);
    _mm_stream_pd(at + kLanes, second);
  }
  static void fence() noexcept { _mm_sfence(); }
  static double sum(Type value) noexcept {
    double total = 0;
    for (std::size_t i = 0; i < kLanes; ++i) {
      total += value[i];
    }
    return total;
  }
};

}  // namespace

const StreamPasses kStreamSse2 = passes_of<Vector>("sse2");

}  // namespace wulf::node

#endif
