#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/perf/ring.hpp"
#include "node/noise/decoder.hpp"

namespace wulf::node {

/// Tracepoints that are of use together alone.
struct TracepointGroup {
  std::string name;
  std::vector<std::uint64_t> numbers;  ///< in the order in which they are opened: what ends first
};

/// The tracepoints that say who has a CPU, as this kernel has them.
struct NoiseTracepoints {
  EventDecoder decoder;
  std::vector<TracepointGroup> groups;  ///< the scheduler's first
  std::vector<std::string> missing;     ///< what this kernel has none of: "nmi:nmi_handler"
};

/// Read from tracefs. Throws Unavailable, with what to do, where that can't be read, or there is no
/// sched_switch.
[[nodiscard]] NoiseTracepoints noise_tracepoints();

constexpr std::size_t kRingPages = 4096;  ///< for a burst of a tenth of a second

/// A ring with these tracepoints of one CPU; `refused` gets the names of those that the kernel keeps to
/// itself, as irq_work's, which perf needs. Throws Unavailable where it does not allow any.
[[nodiscard]] std::unique_ptr<EventRing> open_ring(const NoiseTracepoints& tracepoints, int cpu,
                                                   clockid_t clock, std::vector<std::string>& refused,
                                                   std::size_t pages = kRingPages);

}  // namespace wulf::node
