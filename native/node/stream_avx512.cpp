#ifdef __x86_64__

#include <immintrin.h>

#include "node/stream_kernels.hpp"

namespace wulf::node {
namespace {

struct Vector {
  using Type = __m512d;
  static constexpr std::size_t kLanes = 8;
  static Type set(double value) noexcept { return _mm512_set1_pd(value); }
  static Type load(const double* at) noexcept { return _mm512_load_pd(at); }
  static Type add(Type x, Type y) noexcept { return x + y; }
  static Type multiply(Type x, Type y) noexcept { return x * y; }
  static Type multiply_add(Type x, Type y, Type z) noexcept { return _mm512_fmadd_pd(x, y, z); }
  static void store(double* at, Type value) noexcept { _mm512_store_pd(at, value); }
  static void stream(double* at, Type first, Type second) noexcept {
    _mm512_stream_pd(at, first);
    _mm512_stream_pd(at + kLanes, second);
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

const StreamPasses kStreamAvx512 = passes_of<Vector>("avx512");

}  // namespace wulf::node

#endif
