#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "replay/program/array.hpp"
#include "replay/program/operation.hpp"

namespace wulf::replay {

/// What ranks do as a graph: each operation begins once those that it depends on have ended, or begun, on one
/// of its rank's CPUs. Engine B replays it; the sequences of a `Program` are one order of it, which engine A
/// replays.
///
/// Operations are computing, sends and receives; there are no waits: a send ends when its sender may go on, a
/// receive when its message is taken.
struct OperationGraph {
  Array<OpKind> kind;          ///< kCalc, kSend, kRecv or kRecvLive
  Array<std::uint32_t> arg;    ///< as in Program, but that computing is an index of `durations`
  Array<std::uint32_t> op;     ///< the sequence's operation that posts it; kNone of computing
  Array<std::uint32_t> cpu;    ///< an index of `rank_of_cpu`
  Array<std::uint32_t> needs;  ///< how many dependencies it has
  Array<Picoseconds> durations;
  Array<std::uint32_t> rank_of_cpu;
  /// Two places an operation, and one more: those that depend on the begin of operation i are in `next` from
  /// next_first[2i] up to next_first[2i + 1], those on its end from there up to next_first[2i + 2].
  Array<std::uint32_t> next_first;
  Array<std::uint32_t> next;
  Array<std::uint32_t> sends;     ///< by message: its send
  Array<std::uint32_t> receives;  ///< by message: its receive; kNone where it is matched live
  Array<std::uint32_t> live;      ///< by live receive

  [[nodiscard]] bool empty() const { return kind.empty(); }
  [[nodiscard]] std::size_t ops() const { return kind.size(); }
  [[nodiscard]] std::span<const std::uint32_t> after_begin(std::uint32_t which) const {
    return {next.data() + next_first[2 * std::size_t{which}],
            next.data() + next_first[(2 * std::size_t{which}) + 1]};
  }
  [[nodiscard]] std::span<const std::uint32_t> after_end(std::uint32_t which) const {
    return {next.data() + next_first[(2 * std::size_t{which}) + 1],
            next.data() + next_first[(2 * std::size_t{which}) + 2]};
  }
};

}  // namespace wulf::replay
