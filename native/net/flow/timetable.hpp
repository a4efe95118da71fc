#pragma once

#include <cstdint>

#include "core/time/clock.hpp"

namespace wulf::net {

/// When each message of an open loop is due. Fixed beforehand: who is late does not move what follows.
class Timetable {
 public:
  /// `rate` in messages a second; the first is due at `start`.
  Timetable(double rate, Nanoseconds start) : period_(static_cast<double>(kSecond) / rate), start_(start) {}

  [[nodiscard]] Nanoseconds due(std::uint64_t number) const noexcept {
    return start_ + static_cast<Nanoseconds>(static_cast<double>(number) * period_);
  }

  /// How many are due before `span` is over.
  [[nodiscard]] std::uint64_t within(Nanoseconds span) const noexcept {
    return static_cast<std::uint64_t>(static_cast<double>(span) / period_);
  }

 private:
  double period_;
  Nanoseconds start_;
};

}  // namespace wulf::net
