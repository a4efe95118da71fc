#pragma once

#include "replay/run/run.hpp"

namespace wulf::replay {

/// One of the ways in which time is spent.
using Spent = Picoseconds Parts::*;

/// A time.
struct BareTime {
  Picoseconds at = 0;

  void add(Spent, Picoseconds duration) { at += duration; }
  [[nodiscard]] static Parts spent() { return {}; }
};

/// A time, and what the longest chain of causes that leads to it was spent on.
struct TracedTime {
  Picoseconds at = 0;
  Parts parts;

  void add(Spent part, Picoseconds duration) {
    at += duration;
    parts.*part += duration;
  }
  [[nodiscard]] Parts spent() const { return parts; }
};

/// `time`, but not before `other`.
template <typename Time>
void raise(Time& time, const Time& other) {
  if (other.at > time.at) {
    time = other;
  }
}

}  // namespace wulf::replay
