#pragma once

#include <cstdint>
#include <span>

namespace wulf::node {

/// Floating-point operations that brown_pass does an element.
inline constexpr std::uint64_t kBrownOperations = 4;

/// x = (1 + x) · (1.5 − x) / x for each element, in place and one at a time (R. G. Brown's cpu-rate).
void brown_pass(std::span<double> x) noexcept;

/// Random numbers in [1, 2), of a fixed seed: the same each time. Made in place, since an array of them would
/// share the caches with `x`.
void brown_reset(std::span<double> x) noexcept;

}  // namespace wulf::node
