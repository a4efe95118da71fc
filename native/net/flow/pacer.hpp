#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <ctime>

#include "core/time/clock.hpp"

namespace wulf::net {

/// When bytes are due at a rate. The schedule is absolute, so that no sleep's overrun adds up; who has fallen
/// behind catches up by a millisecond at most, since a burst would be a rate of its own.
class Schedule {
 public:
  /// `rate` in bytes a second; the first bytes are due at `start`.
  Schedule(double rate, Nanoseconds start)
      : nanoseconds_per_byte_(static_cast<double>(kSecond) / rate), due_(start) {}

  /// When the next bytes are due, seen at `current`.
  [[nodiscard]] Nanoseconds due(Nanoseconds current) noexcept {
    due_ = std::max(due_, current - kMillisecond);
    return due_;
  }

  /// `bytes` are on their way: what follows them is due later by their time.
  void sent(std::size_t bytes) noexcept {
    remainder_ += nanoseconds_per_byte_ * static_cast<double>(bytes);
    const auto whole = static_cast<Nanoseconds>(remainder_);
    remainder_ -= static_cast<double>(whole);
    due_ += whole;
  }

 private:
  double nanoseconds_per_byte_;
  double remainder_ = 0;
  Nanoseconds due_;
};

/// Spreads bytes evenly over time by sleeping.
class Pacer {
 public:
  /// `rate` in bytes a second.
  explicit Pacer(double rate) : schedule_(rate, now()) {}

  /// Sleeps until the next `bytes` are due. False when `stop` was set meanwhile.
  bool wait(std::size_t bytes, const std::atomic<bool>& stop) {
    Nanoseconds current = now();
    const Nanoseconds due = schedule_.due(current);
    while (due > current) {
      if (stop.load(std::memory_order_relaxed)) {
        return false;
      }
      const Nanoseconds wake = std::min(due, current + kLongestSleep);
      const timespec when{wake / kSecond, wake % kSecond};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
      current = now();
    }
    schedule_.sent(bytes);
    return true;
  }

 private:
  static constexpr Nanoseconds kLongestSleep = 20 * kMillisecond;
  Schedule schedule_;
};

}  // namespace wulf::net
