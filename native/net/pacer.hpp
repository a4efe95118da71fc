#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <ctime>

#include "core/clock.hpp"

namespace wulf::net {

/// Spreads bytes evenly over time. The schedule is absolute, so that no sleep's overrun adds up; who has
/// fallen behind catches up by a millisecond at most, since a burst would be a rate of its own.
class Pacer {
 public:
  /// `rate` in bytes a second.
  explicit Pacer(double rate) : nanoseconds_per_byte_(static_cast<double>(kSecond) / rate), due_(now()) {}

  /// Sleeps until the next `bytes` are due. False when `stop` was set meanwhile.
  bool wait(std::size_t bytes, const std::atomic<bool>& stop) {
    Nanoseconds current = now();
    due_ = std::max(due_, current - kMillisecond);
    while (due_ > current) {
      if (stop.load(std::memory_order_relaxed)) {
        return false;
      }
      const Nanoseconds wake = std::min(due_, current + kLongestSleep);
      const timespec when{wake / kSecond, wake % kSecond};
      clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
      current = now();
    }
    remainder_ += nanoseconds_per_byte_ * static_cast<double>(bytes);
    const auto whole = static_cast<Nanoseconds>(remainder_);
    remainder_ -= static_cast<double>(whole);
    due_ += whole;
    return true;
  }

 private:
  static constexpr Nanoseconds kLongestSleep = 20 * kMillisecond;
  double nanoseconds_per_byte_;
  double remainder_ = 0;
  Nanoseconds due_;
};

}  // namespace wulf::net
