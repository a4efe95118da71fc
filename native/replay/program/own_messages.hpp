#pragma once

#include <cstdint>

#include "replay/program/program.hpp"

namespace wulf::replay {

/// What a message of a rank to itself costs its CPU, which copies it: no network has a part in it, and no
/// NIC.
struct CopyCosts {
  Picoseconds send = 0;      ///< to post it
  Picoseconds receive = 0;   ///< to take it
  std::int64_t byte_fp = 0;  ///< to copy a byte, as it is taken; 20 fractional bits
};

/// What became copies.
struct Copies {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  std::uint32_t first = kNone;  ///< the first of the program's durations that is of a copy
};

/// Makes computing of what ranks send to themselves. What a rank with wildcards receives is matched as the
/// program runs, and stays a message.
Copies copy_own_messages(Program& program, const CopyCosts& costs);

}  // namespace wulf::replay
