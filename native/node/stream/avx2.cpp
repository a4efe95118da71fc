#ifdef __x86_64__

#include "node/stream/x86.hpp"

namespace wulf::node {
namespace {

struct Lanes {
  using Type = __m256d;
  static constexpr std::size_t kLanes = 4;
  static Type set(double value) noexcept { return _mm256_set1_pd(value); }
  static Type load(const double* at) noexcept { return _mm256_load_pd(at); }
  static Type multiply_add(Type x, Type y, Type z) noexcept { return _mm256_fmadd_pd(x, y, z); }
  static void store(double* at, Type value) noexcept { _mm256_store_pd(at, value); }
  static void stream_one(double* at, Type value) noexcept { _mm256_stream_pd(at, value); }
};

}  // namespace

const StreamPasses kStreamAvx2 = passes_of<X86Vector<Lanes>>("avx2");

}  // namespace wulf::node

#endif
