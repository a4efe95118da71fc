#include "core/time/clock.hpp"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

#include "core/time/host_clock.hpp"

namespace wulf {

ClockQuality measure_clock() {
  constexpr int kBatches = 20;
  constexpr int kReads = 5000;
  Nanoseconds least_batch = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds least_step = std::numeric_limits<Nanoseconds>::max();
  for (int batch = 0; batch < kBatches; ++batch) {
    const Nanoseconds first = now();
    Nanoseconds previous = first;
    for (int i = 0; i < kReads; ++i) {
      const Nanoseconds current = now();
      if (current > previous) {
        least_step = std::min(least_step, current - previous);
      }
      previous = current;
    }
    least_batch = std::min(least_batch, previous - first);
  }
  return {to_seconds(least_batch) / kReads, to_seconds(least_step)};
}

Json describe_clock() {
  static const ClockQuality quality = measure_clock();
  std::ifstream file("/sys/devices/system/clocksource/clocksource0/current_clocksource");
  std::string source;
  file >> source;
  return {{"clock", "CLOCK_MONOTONIC"},     {"source", source.empty() ? Json(nullptr) : Json(source)},
          {"overhead", quality.overhead},   {"resolution", quality.resolution},
          {"monotonic", to_seconds(now())}, {"realtime", to_seconds(time_of_day())}};
}

}  // namespace wulf
