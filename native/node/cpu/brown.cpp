#include "node/cpu/brown.hpp"

#include <bit>

#include "node/cpu/arithmetic_kernels.hpp"

namespace wulf::node {

void brown_pass(std::span<double> x) noexcept {
  double one = 1.0;
  double end = 1.5;
  opaque(one);
  opaque(end);
  for (double& each : x) {
    double value = each;
    opaque(value);  // a scalar operation each, whichever compiler would take two at once
    each = (one + value) * (end - value) / value;
  }
}

void brown_reset(std::span<double> x) noexcept {
  constexpr std::uint64_t kOne = 0x3ff0000000000000;  // 1.0: exponent and sign
  constexpr unsigned kFraction = 12;                  // bits that are no fraction
  std::uint64_t state = 1;
  for (double& each : x) {
    // Knuth's MMIX: a linear congruential generator, whose upper bits are good
    state = (state * 6364136223846793005U) + 1442695040888963407U;
    each = std::bit_cast<double>(kOne | (state >> kFraction));
  }
}

}  // namespace wulf::node
