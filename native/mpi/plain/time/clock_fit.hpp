#pragma once

#include <functional>
#include <vector>

#include "core/time/clock.hpp"

namespace wulf::mpi {

/// What shows a rank's time: now(), or in a test one whose error is known.
using Clock = std::function<Nanoseconds()>;

/// A clock that is wrong on purpose: `base` + offset + skew · (base - origin).
[[nodiscard]] Clock planted_clock(Clock base, Nanoseconds offset, double skew);

/// A question to another clock: when it was sent and when the answer was there, by one's own clock, and what
/// the other showed in between.
struct Exchange {
  Nanoseconds sent = 0;
  Nanoseconds shown = 0;
  Nanoseconds received = 0;
};

/// At `at` of one's own clock the other showed `ahead` more, wrong by at most `error`: the answer may have
/// taken all of the round trip, or none (Cristian 1989).
struct Sighting {
  Nanoseconds at = 0;
  Nanoseconds ahead = 0;
  Nanoseconds error = 0;
};

/// The sighting of the exchange with the shortest round trip: what queued least. Throws std::invalid_argument
/// where there is none.
[[nodiscard]] Sighting fastest(const std::vector<Exchange>& exchanges);

/// From one's own clock to another: other = own + offset + skew · (own - origin).
struct ClockModel {
  Nanoseconds origin = 0;
  Nanoseconds offset = 0;
  double skew = 0;        ///< seconds a second
  Nanoseconds error = 0;  ///< of the offset at the origin, at most
  double skew_error = 0;  ///< of the skew, at most; infinite where one moment alone was seen

  /// What the other clock shows when one's own shows `own`.
  [[nodiscard]] Nanoseconds other(Nanoseconds own) const;
  /// What one's own clock shows when the other shows `other`.
  [[nodiscard]] Nanoseconds own(Nanoseconds other) const;
};

/// A line through the sightings, each weighted by 1/error²: an exchange that the scheduler held up says
/// little. The offset's error is the weighted mean of theirs, which bounds it whatever the asymmetry of the
/// ways. A drift within two standard errors of none is taken for none: carried forward for seconds, its noise
/// would be worse than a drift of some parts in a million. Throws std::invalid_argument for no sightings.
[[nodiscard]] ClockModel fit_clock(const std::vector<Sighting>& sightings);

/// From own to root, where `near` leads from own to a parent's clock, and `far` from the parent's to root's.
[[nodiscard]] ClockModel merged(const ClockModel& near, const ClockModel& far);

/// How a rank learns another clock.
struct LearnSettings {
  int points = 16;        ///< sightings that the line is fitted to
  int exchanges = 10;     ///< of which each sighting is the fastest
  double seconds = 0.01;  ///< over which the sightings are spread
};

/// The fastest of so many exchanges; of fewer where they are so slow that they have lasted `longest`
/// together, as when ranks must share CPUs.
[[nodiscard]] Sighting sight(const std::function<Exchange()>& exchange, int most, Nanoseconds longest);

/// Sightings over a window by `exchange`, with `pause(seconds)` between them, and their line. No sighting
/// takes longer than the window.
[[nodiscard]] ClockModel learn_clock(const std::function<Exchange()>& exchange,
                                     const std::function<void(double)>& pause, const LearnSettings& settings);

/// One step of one member of a hierarchy: it teaches the other its clock, or learns the other's.
struct Lesson {
  int partner = 0;
  bool learns = false;
};

/// The steps of member `index` of `count` in their order, so that whoever teaches has learned before, and all
/// are done after ⌈log₂ count⌉ rounds (the top-down tree of HCA3: Hunold & Carpen-Amarie, CLUSTER 2018).
[[nodiscard]] std::vector<Lesson> lessons(int index, int count);

}  // namespace wulf::mpi
