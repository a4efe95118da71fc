#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "node/noise/attribution.hpp"

namespace wulf::node {

/// A CPU's change from one task to another.
struct Change {
  Nanoseconds at = 0;
  std::int64_t from = 0;
  std::int64_t to = 0;
  bool runnable = false;  ///< whether the one that leaves would rather run on
};

/// What a CPU did: who had it, without gaps but for what is not known, and its changes; both in order of
/// time.
struct CpuHistory {
  std::vector<Piece> pieces;
  std::vector<Change> changes;
};

/// The times in which a task had something to run and did not, and who had the CPU instead: interrupts on top
/// of it, and whoever ran while it had been made to wait, on the CPU where it waits. In order of time. What a
/// task waits for after it slept is not told: sched_switch alone does not say when it was woken.
[[nodiscard]] std::vector<Piece> stolen_from(std::int64_t task, std::span<const CpuHistory> cpus,
                                             const Culprits& culprits, Nanoseconds edge);

/// The `most` longest of them, in order of time.
[[nodiscard]] std::vector<Piece> longest_of(std::vector<Piece> pieces, std::size_t most);

}  // namespace wulf::node
