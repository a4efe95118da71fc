#ifdef __x86_64__

#include "node/stream/x86.hpp"

namespace wulf::node {
namespace {

struct Lanes {
  using Type = __m128d;
  static constexpr std::size_t kLanes = 2;
  static Type set(double value) noexcept { return _mm_set1_pd(value); }
  static Type load(const double* at) noexcept { return _mm_load_pd(at); }
  static Type multiply_add(Type x, Type y, Type z) noexcept { return (x * y) + z; }
  static void store(double* at, Type value) noexcept { _mm_store_pd(at, value); }
  static void stream_one(double* at, Type value) noexcept { _mm_stream_pd(at, value); }
};

}  // namespace

const StreamPasses kStreamSse2 = passes_of<X86Vector<Lanes>>("sse2");

}  // namespace wulf::node

#endif
