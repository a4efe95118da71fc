#pragma once

#include <cstdint>

#include "core/time/clock.hpp"

namespace wulf::mpi {

/// Computation that needs no memory: so many steps, each of which needs the last one's result. Returns what
/// has to be used, lest it be computed away.
[[nodiscard]] inline std::uint64_t spin(std::int64_t steps, std::uint64_t state) {
  constexpr std::uint64_t kFactor = 6364136223846793005U;  // Knuth's MMIX
  constexpr std::uint64_t kAddend = 1442695040888963407U;
  for (std::int64_t i = 0; i < steps; ++i) {
    state = (state * kFactor) + kAddend;
  }
  return state;
}

/// Steps of spin() in a second here: the fastest of some tries of about a tenth of a millisecond each.
[[nodiscard]] double spin_rate();

}  // namespace wulf::mpi
