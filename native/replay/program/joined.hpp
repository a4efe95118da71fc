#pragma once

#include <span>

#include "replay/program/program.hpp"

namespace wulf::replay {

/// Programs beside each other as one: the ranks of the first, then those of the next, which exchange nothing.
///
/// What connecting takes is the first one's that says it. Throws bad-parameter where one is a graph, or they
/// have more operations, messages or ranks than a program has room for.
[[nodiscard]] Program joined(std::span<const Program* const> programs);

}  // namespace wulf::replay
