#pragma once

#include <vector>

#include "core/json/json.hpp"
#include "core/time/clock.hpp"

namespace wulf::link {

/// A median, and the interval that holds the true one in at least 95 of 100 cases.
struct MedianInterval {
  Nanoseconds value;
  Nanoseconds low;
  Nanoseconds high;
};

/// Of at least 6 values, by order statistics: no distribution is assumed (Conover, Practical Nonparametric
/// Statistics, "confidence interval for a quantile"; normal approximation of the binomial).
[[nodiscard]] MedianInterval median_interval(std::vector<Nanoseconds> values);

/// The operation `calibrate`: what the emulator itself adds to a frame's way at zero setting. Frames are sent
/// by turns over a link of its own and over a loopback device, both in a network namespace made for it; the
/// answer is the median of the differences, with its interval, in seconds. With a `delay`, also by how much
/// it differs from what was asked for, by turns with frames at zero setting: `arrival` by the kernel's own
/// stamps when it took the frame from the device, which is the emulator's doing; `receipt` as the thread saw
/// it that waited for the frame, whose wake-up is slower the longer it has slept.
[[nodiscard]] Json calibrate(const Json& request);

}  // namespace wulf::link
