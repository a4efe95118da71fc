#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>

#include "core/time/clock.hpp"
#include "link/setting.hpp"

namespace wulf::link {

/// What becomes of a frame: how many copies of it arrive, and when.
struct Fate {
  std::size_t copies = 0;  ///< 0: dropped; 2: duplicated
  Nanoseconds arrival = 0;
};

/// What a line has done since it was made, in frames.
struct LineCounts {
  std::uint64_t frames = 0;  ///< offered
  std::uint64_t bytes = 0;   ///< offered
  std::uint64_t lost = 0;
  std::uint64_t queue_full = 0;
  std::uint64_t too_long = 0;
  std::uint64_t duplicated = 0;
  std::uint64_t reordered = 0;
};

/// One direction of a link: decides when each frame arrives. Pure: the clock's readings are given, and the
/// random numbers follow from the seed.
///
/// A frame first waits for its turn and is sent at the rate, then takes the delay, then waits for its batch.
class Line {
 public:
  explicit Line(std::uint64_t seed) : random_(seed) {}

  /// From now on. Frames that were admitted before keep their times.
  void set(const Setting& setting) { setting_ = setting; }
  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] const LineCounts& counts() const { return counts_; }

  /// A frame of `bytes`, Ethernet header included, is offered at `current`, which never goes back.
  Fate admit(std::size_t bytes, Nanoseconds current);

 private:
  [[nodiscard]] bool queue_full(Nanoseconds current);
  Nanoseconds send(std::size_t bytes, Nanoseconds current);
  Nanoseconds travel(Nanoseconds sent);
  Nanoseconds hand_over(Nanoseconds arrived);
  bool happens(double share);

  static constexpr std::size_t kHeader = 14;  ///< Ethernet's: two addresses and a type
  static constexpr std::size_t kTag = 4;      ///< a VLAN's, which does not count as load (IEEE 802.1Q)

  Setting setting_;
  LineCounts counts_;
  std::mt19937_64 random_;
  std::deque<Nanoseconds> starts_;  ///< when the frames that still wait begin to be sent
  Nanoseconds free_at_ = 0;         ///< when the line has sent all that it took
  double remainder_ = 0;            ///< of a nanosecond, so that rounding does not add up to another rate
  Nanoseconds last_arrival_ = 0;
  Nanoseconds batch_start_ = 0;
  Nanoseconds batch_end_ = -1;
};

}  // namespace wulf::link
