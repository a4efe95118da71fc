#pragma once

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "core/clock.hpp"

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
    const bool timed = calls_++ % kStride == 0;
    const Nanoseconds start = timed ? now() : 0;
    if (poll()) {
      return;
    }
    Nanoseconds before = now();
    ++first_polls_;
    if (timed) {
      ++timed_polls_;
      timed_ += before - start;
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
    const double first =
        timed_polls_ > 0 ? static_cast<double>(timed_) / static_cast<double>(timed_polls_) : 0;
    const double last = last_polls_ > 0 ? static_cast<double>(shortest_) : 0;
    return to_seconds(waited_ + static_cast<Nanoseconds>((first * static_cast<double>(first_polls_)) +
                                                         (last * static_cast<double>(last_polls_))));
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
  std::uint64_t calls_ = 0;
  Nanoseconds waited_ = 0;
  Nanoseconds shortest_ = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds timed_ = 0;
  std::uint64_t timed_polls_ = 0;
  std::uint64_t first_polls_ = 0;
  std::uint64_t last_polls_ = 0;
};

}  // namespace wulf::mpi
