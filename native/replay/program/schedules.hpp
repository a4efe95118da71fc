#pragma once

#include <cstdint>
#include <string>

#include "replay/program/program.hpp"

namespace wulf::replay {

/// A program that is made in memory: what networks are compared by, and engines tested.
struct Schedule {
  std::string kind;  ///< dissemination, binary-tree, linear-alltoall, ring, pingpong or incast
  std::uint32_t ranks = 2;
  std::uint64_t bytes = 1;   ///< of each message
  std::uint32_t rounds = 1;  ///< how often it is repeated
  Picoseconds compute = 0;   ///< of each rank before every round
};

/// The program of a schedule. Throws bad-parameter for a kind that there is not, or too few ranks.
[[nodiscard]] Program make_schedule(const Schedule& schedule, std::int64_t compute);

}  // namespace wulf::replay
