#pragma once

#include <mpi.h>

#include <functional>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "mpi/time/clock_sync.hpp"

namespace wulf::mpi {

/// How the ranks of a collective begin.
enum class Start {
  kWindow,   ///< at a time agreed beforehand, by the corrected clock
  kBarrier,  ///< as MPI_Barrier lets them go
  kNone,     ///< when they are done with the call before: many calls, back to back
};

/// What was measured, on rank 0.
struct Timed {
  std::vector<double> times;   ///< seconds from the (agreed) start to the last rank's end, one a sample
  std::vector<double> locals;  ///< mean over ranks of the seconds inside the call
  std::vector<double> skews;   ///< seconds between the (agreed) start and the last rank's
  std::size_t calls = 0;
  Json info = Json::object();
};

/// Collective over `comm`: times `call`, which all ranks make, for about `seconds`. Rank 0 gets the result.
[[nodiscard]] Timed time_calls(MPI_Comm comm, const SharedClock& clock, Start start, double seconds,
                               const std::function<void()>& call);

}  // namespace wulf::mpi
