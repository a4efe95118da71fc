#pragma once

#include <cstdint>

#include "interpose/ticks.hpp"

namespace wulf::trace {

/// Nanoseconds since MPI_Init returned, of moments in ticks. The length of a tick is measured from the
/// library's loading on, and better the longer that is ago.
class Clock {
 public:
  /// The library is loaded: the first of the moments between which ticks are measured.
  void load();

  /// MPI_Init has returned: nanosecond 0.
  void begin();

  [[nodiscard]] std::uint64_t ns(std::uint64_t at) const {
    const auto since = static_cast<std::int64_t>(at - _base_ticks);
    if (since < 0) {
      return _base_ns;  // two processors' counters may differ by a few ticks
    }
    return _base_ns +
           static_cast<std::uint64_t>((static_cast<unsigned __int128>(since) * _factor) >> fraction);
  }

  /// Measure the length of a tick again. Time goes on without a step.
  void adjust();

  /// Nanoseconds since MPI_Init returned, by CLOCK_MONOTONIC.
  [[nodiscard]] std::uint64_t monotonic_ns() const { return interpose::monotonic() - _begin_monotonic; }

  [[nodiscard]] std::uint64_t begin_monotonic() const { return _begin_monotonic; }
  [[nodiscard]] std::uint64_t begin_realtime() const { return _begin_realtime; }

 private:
  static constexpr unsigned fraction = 32;

  void measure();

  std::uint64_t _load_ticks = 0;
  std::uint64_t _load_monotonic = 0;
  std::uint64_t _begin_monotonic = 0;
  std::uint64_t _begin_realtime = 0;
  std::uint64_t _base_ticks = 0;
  std::uint64_t _base_ns = 0;
  std::uint64_t _factor = std::uint64_t{1} << fraction;  ///< nanoseconds a tick
};

/// The time of the records of this process.
extern Clock run_clock;

}  // namespace wulf::trace
