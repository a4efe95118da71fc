#pragma once

#include <cstdint>

namespace wulf::replay {

/// Costs per byte are picoseconds with 20 fractional bits.
constexpr unsigned kFractionBits = 20;

/// cost · n, rounded down to whole picoseconds.
[[nodiscard]] constexpr std::int64_t mul(std::int64_t cost, std::uint64_t n) {
  __extension__ using Wide = __int128;
  return static_cast<std::int64_t>((static_cast<Wide>(cost) * static_cast<Wide>(n)) >> kFractionBits);
}

}  // namespace wulf::replay
