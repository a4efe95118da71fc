#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/json/error.hpp"
#include "replay/program/program.hpp"
#include "replay/run/network.hpp"

namespace wulf::replay {

/// Where the time along the critical path went; the sum is the run's time, to the picosecond.
struct Parts {
  Picoseconds compute = 0;
  Picoseconds latency = 0;
  Picoseconds bytes = 0;     ///< bytes on the wire
  Picoseconds overhead = 0;  ///< the CPUs' time for messages: os, or, Os, Or
  Picoseconds waiting =
      0;  ///< behind other messages: gaps of NICs; contention, where it is modelled; for a call

  [[nodiscard]] Picoseconds sum() const { return compute + latency + bytes + overhead + waiting; }
};

/// A program's run on one network.
struct Run {
  Picoseconds time = 0;           ///< when the last rank ended
  std::uint64_t inversions = 0;   ///< engine A: waits for messages that NICs may serve in another order
  std::uint64_t events = 0;       ///< engine B: what it took in the order of time; each end of a flow is one
  std::vector<Picoseconds> ends;  ///< of each rank; only where asked for
  Parts parts;                    ///< only where asked for
};

struct RunOptions {
  bool ends = false;
  bool parts = false;
  unsigned threads = 1;  ///< networks are shared out; the answers are the same for any number
};

/// A rank that can't go on, and the operation (of all ranks' operations) at which it stands.
struct Blocked {
  std::uint32_t rank;
  std::uint32_t op;
};

/// The error `deadlock`: names the first ten blocked ranks, their operations and what these wait for.
[[nodiscard]] Error deadlock(const Program& program, std::span<const Blocked> blocked);

/// Throws bad-parameter where engine A can't run the program on the networks, and engine B can.
void refuse_what_needs_b(const Program& program, std::span<const Network> networks);

/// Engine A: order-independent, each network's run in the order of `networks`. Throws `deadlock`, and
/// bad-parameter where the program needs engine B (wildcards that are matched live).
[[nodiscard]] std::vector<Run> run_a(const Program& program, std::span<const Network> networks,
                                     const RunOptions& options);

/// Engine B: time-ordered; contention, slow start and live wildcards. Throws `deadlock`.
[[nodiscard]] Run run_b(const Program& program, const Network& network, const RunOptions& options);

}  // namespace wulf::replay
