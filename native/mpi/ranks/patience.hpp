#pragma once

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

namespace wulf::mpi {

/// Asks `done` now and then, asleep in between, until it says true. MPI's own waits spin, and would take a
/// CPU a rank from whatever else is measured meanwhile. Never for what is timed: a nap lasts up to 2 ms.
template <typename Done>
void sleep_until(Done done) {
  constexpr auto kLongestNap = std::chrono::microseconds(2000);
  auto nap = std::chrono::microseconds(1);
  while (!done()) {
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, kLongestNap);
  }
}

/// A text of any length from that rank; asleep until it arrives.
[[nodiscard]] std::string receive_asleep(MPI_Comm comm, int from, int tag);

}  // namespace wulf::mpi
