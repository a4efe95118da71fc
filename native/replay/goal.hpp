#pragma once

#include <cstdint>
#include <istream>
#include <string>

#include "replay/source.hpp"

namespace wulf::replay {

/// The program of a GOAL text (Hoefler, Siebert, Lumsdaine 2009), as LogGOPSim reads it.
///
/// A rank does one thing after the other: what depends on nothing still open comes first, in the order of the
/// file; what depends on a message comes after a wait for it. `calc` is in nanoseconds. Work for another CPU
/// than 0 is done by the one there is, and counted as left out. `name` is the file's, for messages. Throws
/// `goal` with the line of what is wrong, and `unmatched`.
[[nodiscard]] Loaded read_goal(std::istream& text, const std::string& name, std::int64_t compute);

}  // namespace wulf::replay
