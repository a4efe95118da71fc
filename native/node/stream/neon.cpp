#ifdef __aarch64__

#include <arm_neon.h>

#include "node/stream/kernels.hpp"

namespace wulf::node {
namespace {

struct Vector {
  using Type = float64x2_t;
  static constexpr std::size_t kLanes = 2;
  static Type set(double value) noexcept { return vdupq_n_f64(value); }
  static Type load(const double* at) noexcept { return vld1q_f64(at); }
  static Type add(Type x, Type y) noexcept { return vaddq_f64(x, y); }
  static Type multiply(Type x, Type y) noexcept { return vmulq_f64(x, y); }
  static Type multiply_add(Type x, Type y, Type z) noexcept { return vfmaq_f64(z, x, y); }
  static void store(double* at, Type value) noexcept { vst1q_f64(at, value); }
  static void stream(double* at, Type first, Type second) noexcept {
    // NOLINTNEXTLINE(hicpp-no-assembler): no intrinsic stores a pair past the caches
    asm volatile("stnp %q1, %q2, [%0]" : : "r"(at), "w"(first), "w"(second) : "memory");
  }
  static void fence() noexcept {}
  static double sum(Type value) noexcept { return vaddvq_f64(value); }
};

}  // namespace

const StreamPasses kStreamNeon = passes_of<Vector>("neon");

}  // namespace wulf::node

#endif
