#pragma once

#include <deque>
#include <utility>

#include "replay/program/program.hpp"

namespace wulf::replay {

/// When a rank sees nothing of what comes, from now on: it runs ahead of the others, and so knows.
///
/// That is from where it computes to where it next waits: posting looks at nothing (Open MPI's and MPICH's
/// MPI_Isend and MPI_Irecv). The begin and the end are moments in which it sees what is there.
class Computing {
 public:
  /// It computes from then on, unless it has not waited since it did.
  void begin(Picoseconds begin) { since_ = since_ < 0 ? begin : since_; }
  /// It waits. Spans that ended before `now` are forgotten.
  void end(Picoseconds now, Picoseconds end) {
    if (since_ >= 0) {
      forget(now);
      spans_.push_back({std::exchange(since_, -1), end});
    }
  }
  /// The earliest time, from `now` on, at which the rank sees what has come. Of what is over it knows
  /// nothing, for which it says `now`.
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

  Picoseconds since_ = -1;  ///< computes, and has not waited since
  std::deque<Span> spans_;
};

}  // namespace wulf::replay
