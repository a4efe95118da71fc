#include "node/cpu/arithmetic_kernels.hpp"

#include <limits>

namespace wulf::node {
namespace {

template <typename T>
constexpr bool kWide = sizeof(T) == sizeof(std::int64_t);

/// The operands of each operation on each type, and what to say of them.
template <typename T, typename Op>
struct Choice;

template <typename T>
struct Choice<T, Bit> {
  static constexpr Operands<T> operands{0x1234567, 0x5a5a5a5a, 0x3c3c3c3c};
  static constexpr std::string_view policy = "x ^= a and x ^= b in turn";
};

template <typename T>
struct Choice<T, Add> {
  static constexpr T kStep = std::is_integral_v<T> ? static_cast<T>(0x1234567) : static_cast<T>(0.3);
  static constexpr Operands<T> operands{static_cast<T>(2), kStep, -kStep};
  static constexpr std::string_view policy = "x += a and x -= a in turn";
};

template <typename T>
struct Choice<T, Multiply> {
  static constexpr bool kWhole = std::is_integral_v<T>;
  static constexpr Operands<T> operands{static_cast<T>(1), static_cast<T>(kWhole ? 0x1e3779b1 : 1.5),
                                        static_cast<T>(kWhole ? 0x45d9f3b : 1 / 1.5)};
  static constexpr std::string_view policy =
      kWhole ? "x *= a and x *= b in turn, both odd, wrapping around" : "x *= 1.5 and x *= 1 / 1.5 in turn";
};

template <typename T>
struct Choice<T, Divide> {
  static constexpr Operands<T> whole() {
    return {static_cast<T>(kWide<T> ? 3'000'000'000 : 46'000), std::numeric_limits<T>::max(), 0};
  }
  static constexpr Operands<T> fraction() { return {static_cast<T>(1.7), static_cast<T>(3.1), 0}; }
  static constexpr Operands<T> operands = std::is_integral_v<T> ? whole() : fraction();
  static constexpr std::string_view policy =
      std::is_integral_v<T> ? "x = a / x, a the largest number, x near its root: quotients of half the bits"
                            : "x = 3.1 / x, x from 1.7";
};

template <typename T>
struct Choice<T, Modulo> {
  static constexpr Operands<T> operands{static_cast<T>(kWide<T> ? 1LL << 62U : 1LL << 30U),
                                        static_cast<T>(kWide<T> ? (1LL << 32U) + 15 : 65'537),
                                        static_cast<T>(kWide<T> ? 1LL << 62U : 1LL << 30U)};
  static constexpr std::string_view policy =
      "x = x % a + b, a of half the bits, b one bit less than all: one addition is part of it";
};

template <typename T>
struct Choice<T, Bogo> {
  static constexpr Operands<T> operands{static_cast<T>(1.3), static_cast<T>(1), static_cast<T>(1.5)};
  static constexpr std::string_view policy =
      "x = (1 + x) * (1.5 - x) / x, from 1.3 again after 60 steps or 30";
};

template <typename T, typename Op>
constexpr ArithmeticKernel kernel(std::string_view type, std::string_view op) {
  return {.type = type,
          .op = op,
          .dependent =
              [](std::uint64_t rounds) noexcept {
                return static_cast<double>(dependent<T, Op>(Choice<T, Op>::operands, rounds));
              },
          .independent =
              [](std::uint64_t rounds) noexcept {
                return static_cast<double>(independent<T, Op>(Choice<T, Op>::operands, rounds));
              },
          .dependent_steps = dependent_steps<Op>,
          .independent_chains = independent_chains<T, Op>,
          .policy = Choice<T, Op>::policy};
}

constexpr std::array kArithmeticKernels{
    kernel<std::int32_t, Bit>("int", "bit"),      kernel<std::int32_t, Add>("int", "add"),
    kernel<std::int32_t, Multiply>("int", "mul"), kernel<std::int32_t, Divide>("int", "div"),
    kernel<std::int32_t, Modulo>("int", "mod"),   kernel<std::int64_t, Bit>("int64", "bit"),
    kernel<std::int64_t, Add>("int64", "add"),    kernel<std::int64_t, Multiply>("int64", "mul"),
    kernel<std::int64_t, Divide>("int64", "div"), kernel<std::int64_t, Modulo>("int64", "mod"),
    kernel<float, Add>("float", "add"),           kernel<float, Multiply>("float", "mul"),
    kernel<float, Divide>("float", "div"),        kernel<float, Bogo>("float", "bogo"),
    kernel<double, Add>("double", "add"),         kernel<double, Multiply>("double", "mul"),
    kernel<double, Divide>("double", "div"),      kernel<double, Bogo>("double", "bogo"),
};

}  // namespace

std::span<const ArithmeticKernel> arithmetic_kernels() noexcept { return kArithmeticKernels; }

}  // namespace wulf::node
