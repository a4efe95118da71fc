#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include "core/kernels/opaque.hpp"

namespace wulf::node {

/// What a chain starts from and works with. An operation takes `a` and `b` in turn where that keeps its
/// values in range for ever; else as its own comment says.
template <typename T>
struct Operands {
  T start;
  T a;
  T b;
};

/// The unsigned type of a signed integer, whose overflow is defined.
template <typename T>
[[nodiscard]] constexpr auto bits_of(T value) noexcept {
  return static_cast<std::make_unsigned_t<T>>(value);
}

/// A signed division as compilers write it. Inline on x86-64, since clang looks first whether a division of
/// 64 bits would fit into 32 and then does another one than was asked for.
template <typename T>
struct Divided {
  T quotient;
  T remainder;
};

#ifdef __x86_64__
template <typename T>
requires(sizeof(T) == 4) [[gnu::always_inline]] inline Divided<T> divide(T dividend, T divisor) noexcept {
  T remainder;
  // NOLINTNEXTLINE(hicpp-no-assembler)
  asm volatile("cltd\n\tidivl %2" : "+a"(dividend), "=&d"(remainder) : "r"(divisor) : "cc");
  return {dividend, remainder};
}
template <typename T>
requires(sizeof(T) == 8) [[gnu::always_inline]] inline Divided<T> divide(T dividend, T divisor) noexcept {
  T remainder;
  // NOLINTNEXTLINE(hicpp-no-assembler)
  asm volatile("cqto\n\tidivq %2" : "+a"(dividend), "=&d"(remainder) : "r"(divisor) : "cc");
  return {dividend, remainder};
}
#else
template <typename T>
[[gnu::always_inline]] inline Divided<T> divide(T dividend, T divisor) noexcept {
  return {static_cast<T>(dividend / divisor), static_cast<T>(dividend % divisor)};
}
#endif

/// Exclusive or with two numbers in turn.
struct Bit {
  template <typename T>
  [[gnu::always_inline]] static T step(T x, const Operands<T>& with, bool even) noexcept {
    return x ^ (even ? with.a : with.b);
  }
};

/// b is −a: the sum is at one of two values.
struct Add {
  template <typename T>
  [[gnu::always_inline]] static T step(T x, const Operands<T>& with, bool even) noexcept {
    return x + (even ? with.a : with.b);
  }
};

/// Integers wrap around, odd times odd; floating-point b is 1/a, so that the product is at one of two values.
struct Multiply {
  template <typename T>
  [[gnu::always_inline]] static T step(T x, const Operands<T>& with, bool even) noexcept {
    if constexpr (std::is_integral_v<T>) {
      return static_cast<T>(bits_of(x) * bits_of(even ? with.a : with.b));
    } else {
      return x * (even ? with.a : with.b);
    }
  }
};

/// x = a / x, as lmbench's: it goes to and fro between two values near the square root of a, so that no
/// quotient is short.
struct Divide {
  template <typename T>
  [[gnu::always_inline]] static T step(T x, const Operands<T>& with, bool) noexcept {
    if constexpr (std::is_integral_v<T>) {
      return divide(with.a, x).quotient;
    } else {
      return with.a / x;
    }
  }
};

/// x = x % a + b: without the addition nothing would be left to divide. With b and a coprime x takes every
/// value from b up to b + a - 1.
struct Modulo {
  template <typename T>
  [[gnu::always_inline]] static T step(T x, const Operands<T>& with, bool) noexcept {
    return divide(x, with.a).remainder + with.b;
  }
};

/// lmbench's and Brown's (a + x) · (b − x) / x with a = 1 and b = 1.5: four operations. Chaotic, so that a
/// chain starts anew every kBogoSteps.
struct Bogo {
  template <typename T>
  [[gnu::always_inline]] static T step(T x, const Operands<T>& with, bool) noexcept {
    return (with.a + x) * (with.b - x) / x;
  }
};

/// How many steps of a chain stand in a row between two branches: the loop's own two or three instructions
/// are less than a hundredth.
inline constexpr std::size_t kDependentSteps = 128;
inline constexpr std::size_t kIndependentSteps = 240;
inline constexpr std::size_t kBogoSteps = 60;

template <typename Op>
inline constexpr std::size_t dependent_steps = std::is_same_v<Op, Bogo> ? kBogoSteps : kDependentSteps;

/// As many chains as no CPU has operations of the kind under way at once (latency times operations begun a
/// cycle), and as fit into the registers: floating-point sums and products have up to 4 pipes of 3 cycles.
template <typename T, typename Op>
inline constexpr std::size_t independent_chains =
    std::is_floating_point_v<T> && (std::is_same_v<Op, Add> || std::is_same_v<Op, Multiply>) ? 12 : 8;

/// `x` is now what the chain starts from, but not before it has been computed: Bogo's chains alone need it,
/// and it costs some cycles in the thousand of a round.
template <typename T>
[[gnu::always_inline]] inline void restart(T& x, const Operands<T>& with) noexcept {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  Bits zero = 0;
  opaque(zero);
  x = std::bit_cast<T>((std::bit_cast<Bits>(x) & zero) | std::bit_cast<Bits>(with.start));
}

template <typename Op, typename T>
[[gnu::always_inline]] inline void advance(T& x, const Operands<T>& with, bool even) noexcept {
  x = Op::step(x, with, even);
  opaque(x);
}

/// The steps of one chain in a row.
template <typename Op, typename T, std::size_t... step>
[[gnu::always_inline]] inline void advance_by(T& x, const Operands<T>& with,
                                              std::index_sequence<step...>) noexcept {
  (advance<Op>(x, with, step % 2 == 0), ...);
}

/// One step of every chain.
template <typename Op, typename T, std::size_t... chain>
[[gnu::always_inline]] inline void advance_all(std::array<T, sizeof...(chain)>& x, const Operands<T>& with,
                                               bool even, std::index_sequence<chain...>) noexcept {
  (advance<Op>(x[chain], with, even), ...);
}

/// The steps of all chains, in turn.
template <typename Op, typename T, std::size_t chains, std::size_t... step>
[[gnu::always_inline]] inline void advance_all_by(std::array<T, chains>& x, const Operands<T>& with,
                                                  std::index_sequence<step...>) noexcept {
  (advance_all<Op>(x, with, step % 2 == 0, std::make_index_sequence<chains>{}), ...);
}

/// Chains at their start. Without a loop, which would have the array lie in memory.
template <typename T, std::size_t... chain>
[[gnu::always_inline]] inline std::array<T, sizeof...(chain)> all_at(T start,
                                                                     std::index_sequence<chain...>) noexcept {
  return {((void)chain, start)...};
}

template <typename T, std::size_t... chain>
[[gnu::always_inline]] inline void restart_all(std::array<T, sizeof...(chain)>& x, const Operands<T>& with,
                                               std::index_sequence<chain...>) noexcept {
  (restart(x[chain], with), ...);
}

/// The operands, such that the compiler knows none of them.
template <typename T>
[[gnu::always_inline]] inline Operands<T> unknown(Operands<T> operands) noexcept {
  opaque(operands.start);
  opaque(operands.a);
  opaque(operands.b);
  return operands;
}

/// One chain, `rounds` times dependent_steps<Op> long: each operation waits for the last. Returns its end.
template <typename T, typename Op>
[[gnu::noinline]] T dependent(const Operands<T>& operands, std::uint64_t rounds) noexcept {
  const Operands<T> with = unknown(operands);
  T x = with.start;
  for (; rounds > 0; --rounds) {
    if constexpr (std::is_same_v<Op, Bogo>) {
      restart(x, with);
    }
    advance_by<Op>(x, with, std::make_index_sequence<dependent_steps<Op>>{});
  }
  return x;
}

/// Chains that don't wait for each other; a round is kIndependentSteps operations in all. Returns the end of
/// the first.
template <typename T, typename Op>
[[gnu::noinline]] T independent(const Operands<T>& operands, std::uint64_t rounds) noexcept {
  constexpr std::size_t kChains = independent_chains<T, Op>;
  const Operands<T> with = unknown(operands);
  constexpr auto kAll = std::make_index_sequence<kChains>{};
  std::array<T, kChains> x = all_at(with.start, kAll);
  for (; rounds > 0; --rounds) {
    if constexpr (std::is_same_v<Op, Bogo>) {
      restart_all(x, with, kAll);
    }
    advance_all_by<Op>(x, with, std::make_index_sequence<kIndependentSteps / kChains>{});
  }
  return x[0];
}

/// One row of the table: how an operation on a type is timed.
struct ArithmeticKernel {
  std::string_view type;
  std::string_view op;
  double (*dependent)(std::uint64_t rounds) noexcept;    ///< its end, for tests: it has to stay in range
  double (*independent)(std::uint64_t rounds) noexcept;  ///< the same of the first chain
  std::size_t dependent_steps;                           ///< operations a round
  std::size_t independent_chains;
  std::string_view policy;  ///< what the operands are
};

[[nodiscard]] std::span<const ArithmeticKernel> arithmetic_kernels() noexcept;

}  // namespace wulf::node
