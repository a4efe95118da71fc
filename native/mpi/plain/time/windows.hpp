#pragma once

#include <vector>

#include "core/time/clock.hpp"

namespace wulf::mpi {

/// One call of a collective on all ranks, in rank 0's time.
struct Call {
  Nanoseconds first_start = 0;  ///< of the rank that entered first
  Nanoseconds last_start = 0;
  Nanoseconds last_end = 0;
  Nanoseconds spent = 0;  ///< inside the call, all ranks together
};

/// Samples that start at agreed times, one every window: how long the window is, and which samples count.
///
/// A sample is invalid where a rank entered late, or was still inside when the next sample was due (Hunold &
/// Carpen-Amarie, Reproducible MPI Benchmarking, IEEE TPDS 2016). The window is kept so long that few are:
/// who threw long samples away and never asked for room would only ever see the short ones.
class Windows {
 public:
  /// `estimate`: what a call takes, roughly. `tolerance`: of a rank's start.
  Windows(Nanoseconds estimate, Nanoseconds tolerance);

  [[nodiscard]] Nanoseconds window() const { return window_; }
  /// Samples of a batch that lasts about so long.
  [[nodiscard]] int count(Nanoseconds lasting) const;

  /// A batch that began at `start`; keeps the valid samples and adapts the window.
  void take(Nanoseconds start, const std::vector<Call>& calls);

  [[nodiscard]] int late() const { return late_; }
  [[nodiscard]] int overrun() const { return overrun_; }

  /// Of the valid samples, in seconds: from the agreed start to the last rank's end, and by how much the last
  /// rank entered after the agreed start or the first one, whichever is more.
  [[nodiscard]] const std::vector<double>& times() const { return times_; }
  [[nodiscard]] const std::vector<double>& skews() const { return skews_; }
  [[nodiscard]] const std::vector<double>& spent() const { return spent_; }

 private:
  Nanoseconds window_;
  Nanoseconds widest_;
  Nanoseconds tolerance_;
  int late_ = 0;
  int overrun_ = 0;
  std::vector<double> times_;
  std::vector<double> skews_;
  std::vector<double> spent_;
};

}  // namespace wulf::mpi
