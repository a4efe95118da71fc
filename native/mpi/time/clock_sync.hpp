#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "mpi/plain/time/clock_fit.hpp"

namespace wulf::mpi {

/// Rank 0's clock, as this rank knows it.
class SharedClock {
 public:
  SharedClock(Clock own, const ClockModel& model, bool shared, int neighbours)
      : own_(std::move(own)), model_(model), shared_(shared), neighbours_(neighbours) {}

  [[nodiscard]] Nanoseconds now() const { return model_.other(own_()); }
  [[nodiscard]] const ClockModel& model() const { return model_; }
  /// It is rank 0's clock itself, since both ranks run on one kernel.
  [[nodiscard]] bool shared() const { return shared_; }

  /// Spins until rank 0's clock shows `time`, so that the return is late by one reading at most. Where ranks
  /// must share CPUs it yields meanwhile, since who spins would keep others from being there in time.
  void wait_until(Nanoseconds time) const;

 private:
  Clock own_;
  ClockModel model_;
  bool shared_;
  int neighbours_;  ///< ranks on this rank's kernel, itself included
};

/// How clocks are made one.
struct SyncSettings {
  LearnSettings learn{};
  bool trust_host = true;  ///< ranks on one kernel have one clock; false: each learns it as if it had not
};

/// Collective over `comm`: every rank learns the clock of its rank 0, by hosts first and then hierarchically
/// (HCA3: Hunold & Carpen-Amarie, CLUSTER 2018): one rank a host takes part in ⌈log₂ hosts⌉ rounds of
/// exchanges, each with one that knows already, and hands what it learned to the others of its host.
[[nodiscard]] SharedClock synchronise(MPI_Comm comm, Clock own, const SyncSettings& settings = {});

/// Collective over `comm`: seconds by which each rank's idea of rank 0's clock differs from what new
/// exchanges with rank 0 show, and half the round trip of the fastest of them, which that can't be told from
/// nothing by. Rank 0 gets all of them, the others nothing.
struct Residual {
  double seconds = 0;
  double error = 0;
};
[[nodiscard]] std::vector<Residual> residuals(MPI_Comm comm, const Clock& own, const SharedClock& clock);

/// {"shared", "error", "drift", "note"?} of all ranks of `comm`, the worst of each; on its rank 0.
[[nodiscard]] Json describe_clocks(MPI_Comm comm, const SharedClock& clock);

}  // namespace wulf::mpi
