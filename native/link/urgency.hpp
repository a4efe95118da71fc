#pragma once

#include "core/host/schedstat.hpp"
#include "core/time/clock.hpp"

namespace wulf::link {

/// Whether the calling thread runs under a real-time policy: while it waits for a CPU, and needs some of one.
class Urgency {
 public:
  /// Looks at it again, now and then.
  void follow(Nanoseconds current);
  [[nodiscard]] bool urgent() const { return urgent_; }
  /// What it should be, by the shares of the time for which the thread had a CPU, and waited for one.
  [[nodiscard]] static bool worth(bool urgent, double running, double waiting) {
    return running > kLittle && running < (urgent ? kMost : kMost - kLittle) && (urgent || waiting > kWaits);
  }

 private:
  static bool set(bool urgent);

  static constexpr Nanoseconds kWindow = 20'000'000;
  static constexpr double kMost = 0.85;
  static constexpr double kLittle = 0.1;
  static constexpr double kWaits = 0.05;

  bool urgent_ = false;
  ScheduleStat spent_{};  ///< of the thread, until `since_`
  Nanoseconds since_ = 0;
  Nanoseconds next_ = 0;
};

}  // namespace wulf::link
