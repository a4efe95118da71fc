#pragma once

#include <cstdint>
#include <string>

#include "core/json/json.hpp"
#include "replay/program/source.hpp"

namespace wulf::replay {

/// The program of a trace: docs/how-it-works/replay-lowering.md says what becomes of each call.
///
/// `folder` has a file for each rank (docs/reference/trace-format.md); `collectives` as CollectiveRules;
/// `compute` scales computing (ProgramBuilder). Reads every file twice, one chunk in memory at a time. Throws
/// `trace`, which names rank, chunk or record; `unmatched`; and bad-parameter.
[[nodiscard]] Loaded lower_trace(const std::string& folder, const Json& collectives, std::int64_t compute);

}  // namespace wulf::replay
