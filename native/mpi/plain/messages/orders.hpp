#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace wulf::mpi {

/// 0 … count-1 in an order that depends on `seed` alone, whatever the compiler or the standard library: every
/// rank draws the same one (Fisher and Yates; SplitMix64 by Steele, Lea and Flood, OOPSLA 2014).
[[nodiscard]] std::vector<int> shuffled(int count, std::uint64_t seed);

/// Whom a rank has beside itself.
struct Neighbours {
  int left = 0;
  int right = 0;
};

/// In a ring whose order of ranks is given.
[[nodiscard]] Neighbours neighbours(const std::vector<int>& ring, int rank);

/// Rounds in which each of `count` meets each other once: as few as can be (the circle method, Kirkman 1847).
[[nodiscard]] int rounds_of_pairs(int count);

/// Whom `index` meets in a round; nobody where the number is odd and it is its turn to wait.
[[nodiscard]] std::optional<int> partner_in(int round, int index, int count);

}  // namespace wulf::mpi
