#pragma once

#include "profile/ledger.hpp"

namespace wulf::profile {

/// What a rank's profile says beside its sums. Moments in nanoseconds of the monotonic clock, and in ticks.
struct Run {
  const char* folder = nullptr;
  const Entry* entries = nullptr;
  int rank = 0;
  int ranks = 0;
  int threads = 0;
  std::uint64_t clock_before = 0;  ///< MPI_Init was called
  std::uint64_t clock_begin = 0;   ///< it had returned
  std::uint64_t clock_end = 0;     ///< MPI_Finalize was called
  std::uint64_t clock_after = 0;   ///< it had returned
  std::uint64_t ticks_begin = 0;
  std::uint64_t ticks_end = 0;
  std::uint64_t cost = 0;  ///< ticks that counting one call takes
  char library[128] = {};  ///< what MPI calls itself
};

/// Ask MPI what it is, while it can be asked.
void learn_library(Run& run);

/// Write `rank-N.json` into the folder, whole or not at all; a failure is said on standard error and harms
/// nothing.
void write_profile(const Run& run, const Ledger& ledger);

}  // namespace wulf::profile
