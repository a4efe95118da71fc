#pragma once

#include <optional>
#include <string>

#include "mpi/ranks/world.hpp"

namespace wulf::mpi {

/// Rank 0: hands a request to all others.
void send_command(const World& world, const std::string& text);

/// The other ranks: waits for rank 0's next request. Waiting costs next to nothing: MPI's own waits spin, and
/// would take a CPU a rank from whatever else is measured meanwhile.
[[nodiscard]] std::string next_command(const World& world);

/// Rank 0's request that ends a rank.
inline constexpr const char* kQuit = "quit";

}  // namespace wulf::mpi
