#include <cmath>
#include <cstdint>
#include <limits>

#include "node/cpu/arithmetic_kernels.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;

TEST_CASE("every arithmetic kernel stays among ordinary numbers for ever") {
  CHECK(arithmetic_kernels().size() == 18);
  for (const ArithmeticKernel& kernel : arithmetic_kernels()) {
    INFO(kernel.type << " " << kernel.op);
    const bool whole = kernel.type.starts_with("int");
    const double least = whole ? 1 : 0x1p-20;
    for (const auto body : {kernel.dependent, kernel.independent}) {
      for (std::uint64_t rounds = 0; rounds < 2000; rounds += 1 + (rounds / 3)) {
        const double end = body(rounds);
        CHECK(std::isfinite(end));
        CHECK(std::abs(end) >= least);
        CHECK((whole || std::abs(end) < 0x1p20));
      }
    }
    CHECK(!kernel.policy.empty());
  }
}

TEST_CASE("sums, products and quotients return to where they were, however often") {
  for (const ArithmeticKernel& kernel : arithmetic_kernels()) {
    const bool whole = kernel.type.starts_with("int");
    if (kernel.op == "add" || kernel.op == "div" || (kernel.op == "mul" && !whole)) {
      INFO(kernel.type << " " << kernel.op);
      CHECK(kernel.dependent(1) == kernel.dependent(20'000));  // after the first round's rounding
      CHECK(kernel.independent(1) == kernel.dependent(1));
    }
  }
}

TEST_CASE("a chain does the operations that it says, as often as it says") {
  constexpr Operands<std::int32_t> kDivided{46'000, std::numeric_limits<std::int32_t>::max(), 0};
  CHECK(divide(kDivided.a, kDivided.start).quotient == 46'684);
  CHECK(divide<std::int64_t>(-7, 2).quotient == -3);
  CHECK(divide<std::int64_t>(-7, 2).remainder == -1);
  std::int32_t x = 1 << 30U;
  for (std::size_t i = 0; i < kDependentSteps; ++i) {
    x = (x % 65'537) + (1 << 30U);
  }
  CHECK(dependent<std::int32_t, Modulo>({1 << 30U, 65'537, 1 << 30U}, 1) == x);
  CHECK(dependent<std::int64_t, Add>({0, 3, 4}, 2) == 7 * kDependentSteps);
  CHECK(independent<std::int64_t, Add>({0, 3, 4}, 2) == 7 * kIndependentSteps / 8);
  CHECK(dependent<std::int64_t, Bit>({5, 3, 3}, 1) == 5);
  volatile double value = 1.3;
  for (std::size_t i = 0; i < kBogoSteps; ++i) {
    value = (1 + value) * (1.5 - value) / value;
  }
  CHECK(dependent<double, Bogo>({1.3, 1.0, 1.5}, 1) == value);
  CHECK(dependent<double, Bogo>({1.3, 1.0, 1.5}, 7) == value);  // from its start again each round
}

TEST_CASE("Bogo's chains never come near zero, where a quotient would be none of an ordinary number") {
  double wide = 1.3;
  float narrow = 1.3F;
  for (std::size_t i = 0; i < kBogoSteps; ++i) {
    wide = (1 + wide) * (1.5 - wide) / wide;
    narrow = (1 + narrow) * (1.5F - narrow) / narrow;
    INFO(i);
    CHECK((std::abs(wide) > 0x1p-10 && std::abs(wide) < 0x1p10));
    CHECK((std::abs(narrow) > 0x1p-10F && std::abs(narrow) < 0x1p10F));
  }
}

}  // namespace
