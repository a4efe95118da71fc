#pragma once

#include <cstdint>
#include <string>

#include "core/json/json.hpp"
#include "replay/engine_a/lanes.hpp"
#include "replay/program/operation.hpp"

namespace wulf::replay {

// What several questions write into answers.

[[nodiscard]] constexpr double to_seconds(Picoseconds time) { return static_cast<double>(time) * 1e-12; }

/// A whole number of JSON's own range, or, where 64 bits don't hold it or it is a fraction, the nearest
/// double.
[[nodiscard]] Json number(Fine numerator, Fine denominator = 1);

}  // namespace wulf::replay
