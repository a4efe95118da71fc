#pragma once

#include "core/json/json.hpp"
#include "mpi/ranks/world.hpp"

namespace wulf::mpi {

/// What --describe prints: operations, probes, and which MPI this program runs with.
[[nodiscard]] Json describe();

/// What `run` asks for of so many ranks, without measuring. Throws bad-parameter.
void check_run(const Json& json, int ranks);

/// The CPU that `bind` wants one of so many ranks to stay on. Throws bad-parameter.
[[nodiscard]] int cpu_of(const Json& json, int rank, int ranks);

/// Rank 0's process: the session on stdin and stdout, until stdin closes. Ends the other ranks, too.
void serve_root(const World& world);

/// Every other rank's process: takes part in what rank 0 is asked, until it says quit.
void serve_follower(const World& world);

}  // namespace wulf::mpi
