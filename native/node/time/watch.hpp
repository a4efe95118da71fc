#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "node/time/noise.hpp"

namespace wulf::node {

constexpr std::size_t kMostGaps = 1U << 16U;  ///< a watch ends with the last that there is room for

/// What a loop saw that does nothing but look at the counter.
struct Watch {
  std::vector<Gap> gaps;
  std::uint64_t start = 0;  ///< ticks
  std::uint64_t minimum = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t longest = 0;  ///< of what was no gap
  std::uint64_t elapsed = 0;
};

/// The least time between two looks at the counter.
[[nodiscard]] std::uint64_t least_step();

/// Looks at the counter for so many ticks, and notes where it was away for more than `limit`.
[[nodiscard]] Watch watch(std::uint64_t span, std::uint64_t minimum, std::uint64_t limit);

}  // namespace wulf::node
