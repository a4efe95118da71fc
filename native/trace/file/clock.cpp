#include "trace/file/clock.hpp"

#include <ctime>

namespace wulf::trace {

Clock run_clock;

namespace {

/// Shorter than this, reading the two clocks at the two ends would be a visible part of a tick's length.
constexpr std::uint64_t least_baseline = 20'000'000;

}  // namespace

void Clock::load() {
  interpose::counts_cycles = interpose::has_steady_counter();
  _load_monotonic = interpose::monotonic();
  _load_ticks = interpose::ticks();
}

void Clock::measure() {
  if (!interpose::counts_cycles) {
    return;
  }
  const std::uint64_t elapsed = interpose::monotonic() - _load_monotonic;
  const std::uint64_t counted = interpose::ticks() - _load_ticks;
  if (counted > 0) {
    _factor = static_cast<std::uint64_t>((static_cast<unsigned __int128>(elapsed) << fraction) / counted);
  }
}

void Clock::begin() {
  const std::uint64_t since = interpose::monotonic() - _load_monotonic;
  if (interpose::counts_cycles && since < least_baseline) {
    const timespec rest{0, static_cast<long>(least_baseline - since)};
    nanosleep(&rest, nullptr);
  }
  measure();
  timespec real{};
  clock_gettime(CLOCK_REALTIME, &real);
  _begin_monotonic = interpose::monotonic();
  _base_ticks = interpose::ticks();
  _base_ns = 0;
  _begin_realtime =
      (static_cast<std::uint64_t>(real.tv_sec) * interpose::nano) + static_cast<std::uint64_t>(real.tv_nsec);
}

void Clock::adjust() {
  const std::uint64_t now = interpose::ticks();
  _base_ns = ns(now);
  _base_ticks = now;
  measure();
}

}  // namespace wulf::trace
