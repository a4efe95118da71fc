#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace wulf::node {

/// Seconds by load, where every second load is `distance` bytes after the first, which missed.
struct PairTime {
  std::size_t distance;
  double seconds;
};

struct LineFound {
  std::size_t line = 0;  ///< bytes; 0 = unresolved
  std::string reason;    ///< why it is
};

/// The line's length from times at ascending distances, the first of them certainly within a line. Distances
/// up to a line cost nothing beyond the first, all longer ones something: a sixth of the most that any costs,
/// since the neighbour of a line may come with it and cost less than a miss.
[[nodiscard]] LineFound find_line(const std::vector<PairTime>& times);

}  // namespace wulf::node
