#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/time/clock.hpp"
#include "mpi/plain/farm/sampled_time.hpp"

namespace wulf::mpi {

/// Waits by asking again and again, and knows how much of it was waiting. While there is always something to
/// do, the clock is read once in sixteen times.
///
/// Of the failed polls of a wait the first is timed in a sample, and counts as their mean; the last may be
/// the one in which the library took the message in, and counts as the shortest that a failed poll ever was.
class Idle {
 public:
  /// `yielding`: there are more ranks than CPUs, so that whoever waits is in the way of what it waits for.
  explicit Idle(bool yielding) : yielding_(yielding) {}

  template <typename Poll>
  void until(Poll poll) {
    const bool timed = first_polls_.due();
    const Nanoseconds start = timed ? now() : 0;
    if (poll()) {
      return;
    }
    Nanoseconds before = now();
    if (timed) {
      first_polls_.add(before - start);
    } else {
      first_polls_.skip();
    }
    Nanoseconds last = 0;
    for (before = yield(before); !poll();) {
      const Nanoseconds after = now();
      waited_ += last;
      last = after - before;
      shortest_ = std::min(shortest_, last);
      before = yield(after);
    }
    last_polls_ += last > 0 ? 1 : 0;
  }

  /// In all.
  [[nodiscard]] double seconds() const {
    const Nanoseconds last = last_polls_ > 0 ? last_polls_ * shortest_ : 0;
    return first_polls_.seconds() + to_seconds(waited_ + last);
  }

 private:
  static constexpr std::uint64_t kStride = 16;

  /// When this CPU is ours again.
  Nanoseconds yield(Nanoseconds before) {
    if (!yielding_) {
      return before;
    }
    sched_yield();
    const Nanoseconds after = now();
    waited_ += after - before;
    return after;
  }

  bool yielding_;
  SampledTime first_polls_{kStride};
  Nanoseconds waited_ = 0;
  Nanoseconds shortest_ = std::numeric_limits<Nanoseconds>::max();
  std::int64_t last_polls_ = 0;
};

}  // namespace wulf::mpi
