#ifdef __x86_64__

#include "node/stream/x86.hpp"

namespace wulf::node {
namespace {

struct Lanes {
  using Type = __m512d;
  static constexpr std::size_t kLanes = 8;
  static Type set(double value) noexcept { return _mm512_set1_pd(value); }
  static Type load(const double* at) noexcept { return _mm512_load_pd(at); }
  static Type multiply_add(Type x, Type y, Type z) noexcept { return _mm512_fmadd_pd(x, y, z); }
  static void store(double* at, Type value) noexcept { _mm512_store_pd(at, value); }
  static void stream_one(double* at, Type value) noexcept { _mm512_stream_pd(at, value); }
};

}  // namespace

const StreamPasses kStreamAvx512 = passes_of<X86Vector<Lanes>>("avx512");

}  // namespace wulf::node

#endif
