#pragma once

#include <random>
#include <vector>

#include "replay/program/builder.hpp"
#include "replay/run/network.hpp"
#include "replay/run/run.hpp"

// Programs and networks for tests of the replay, and what they come to by brute force.

namespace wulf::replay_test {

using namespace wulf::replay;

/// Which sizes and shapes a random program has.
struct Recipe {
  std::uint32_t ranks = 4;
  int rounds = 6;
  int messages = 6;  ///< a round
  std::uint64_t most_bytes = 5000;
};

/// A program without a deadlock: in a round everybody posts in any order, and waits in any order, or later.
[[nodiscard]] Program random_program(std::mt19937_64& random, const Recipe& recipe);

/// A network with any costs, some of them 0; latencies are at least 1 ps.
[[nodiscard]] Network random_network(std::mt19937_64& random, std::uint32_t ranks);

/// What the program comes to, by a search through all that could be next; without contention, windows and
/// receives that are matched live. `as_waited_for`: receives that are waited for together are taken in that
/// order, as engine A does; else as they come.
[[nodiscard]] std::vector<Picoseconds> brute_force(const Program& program, const Network& network,
                                                   bool as_waited_for = false);

}  // namespace wulf::replay_test
