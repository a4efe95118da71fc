#pragma once

#include <type_traits>

namespace wulf {

/// The compiler must not know this value: it has to be in a register of its kind here, and could be anything
/// afterwards. So nothing is computed at compile time, twice operations don't become one, and vectors don't
/// become of scalars. Costs no instruction. `keep` would let a floating-point value go through memory.
template <typename T>
requires std::is_integral_v<T>
[[gnu::always_inline]] inline void opaque(T& value) noexcept {
  asm volatile("" : "+r"(value));  // NOLINT(hicpp-no-assembler)
}
template <typename T>
requires std::is_floating_point_v<T>
[[gnu::always_inline]] inline void opaque(T& value) noexcept {
#ifdef __x86_64__
  asm volatile("" : "+x"(value));  // NOLINT(hicpp-no-assembler)
#else
  asm volatile("" : "+w"(value));  // NOLINT(hicpp-no-assembler)
#endif
}

}  // namespace wulf
