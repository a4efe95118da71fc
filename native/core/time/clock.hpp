#pragma once

#include <cstdint>
#include <ctime>

#include "core/json/json.hpp"

namespace wulf {

/// A point or a span of time in nanoseconds. 64 bits last 292 years.
using Nanoseconds = std::int64_t;

inline constexpr Nanoseconds kSecond = 1'000'000'000;
inline constexpr Nanoseconds kMillisecond = 1'000'000;
inline constexpr Nanoseconds kMicrosecond = 1'000;

/// The monotonic clock. CLOCK_MONOTONIC is read in user space (vDSO) where the kernel's clock source allows;
/// a raw time stamp counter would save some 10 ns a read, but is not safe on every machine.
[[nodiscard]] inline Nanoseconds now() noexcept {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (time.tv_sec * kSecond) + time.tv_nsec;
}

[[nodiscard]] constexpr Nanoseconds from_seconds(double seconds) noexcept {
  return static_cast<Nanoseconds>(seconds * static_cast<double>(kSecond));
}

[[nodiscard]] constexpr double to_seconds(Nanoseconds time) noexcept {
  return static_cast<double>(time) / static_cast<double>(kSecond);
}

/// What a reading of the clock costs, and the least step that it shows.
struct ClockQuality {
  double overhead;    ///< seconds a read: the least mean of several batches
  double resolution;  ///< seconds: the smallest difference above zero between two successive reads
};

/// Measures the clock for some milliseconds.
[[nodiscard]] ClockQuality measure_clock();

/// The answer to the operation `clock`: {"clock", "source", "overhead", "resolution", "monotonic",
/// "realtime"}. The clock's quality is measured at the first call alone, so that a later answer comes at once
/// and its two readings can be compared with the asker's own clock.
[[nodiscard]] Json describe_clock();

}  // namespace wulf
