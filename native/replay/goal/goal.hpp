#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "replay/program/source.hpp"

namespace wulf::replay {

/// The program of a GOAL schedule (Hoefler, Siebert, Lumsdaine 2009), a text as LogGOPSim's txt2bin reads it
/// or the binary file that it writes. `calc` is in nanoseconds.
///
/// Ranks that do more than one thing at a time, or on several CPUs, are a graph (`Program::graph`); a note
/// says so. `name` is the file's, for messages. Throws `goal` with the line (or operation) of what is wrong,
/// and `unmatched`.
[[nodiscard]] Loaded read_goal(std::string_view bytes, const std::string& name, std::int64_t compute);

}  // namespace wulf::replay
