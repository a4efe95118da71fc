#pragma once

#include <deque>

#include "replay/program/program.hpp"

namespace wulf::replay {

/// When a rank computes, from now on: it runs ahead of the others, and so knows.
///
/// The begin and the end of a computation are moments in which it is in a call.
class Computing {
 public:
  /// Computations are added in the order of time; those that ended before `now` are forgotten.
  void add(Picoseconds now, Picoseconds begin, Picoseconds end) {
    forget(now);
    spans_.push_back({begin, end});
  }
  /// The earliest time, from `now` on, at which the rank is in a call. `now` never goes back.
  [[nodiscard]] Picoseconds next_call(Picoseconds now) {
    forget(now);
    return !spans_.empty() && spans_.front().begin < now ? spans_.front().end : now;
  }

 private:
  struct Span {
    Picoseconds begin;
    Picoseconds end;
  };

  void forget(Picoseconds now) {
    while (!spans_.empty() && spans_.front().end <= now) {
      spans_.pop_front();
    }
  }

  std::deque<Span> spans_;
};

}  // namespace wulf::replay
