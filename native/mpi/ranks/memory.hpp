#pragma once

#include <cstdint>

#include "mpi/ranks/world.hpp"

namespace wulf::mpi {

/// Collective: throws `limit` on every rank where some host has not the memory that its ranks want together.
/// The kernel would promise it, and end somebody's process later. `bytes` = what this rank wants; 0 =
/// nothing.
void require_memory(const World& world, std::uint64_t bytes);

/// Bytes that no cache holds at once: the largest one's, or 64 MiB where the system says nothing.
[[nodiscard]] std::uint64_t beyond_caches();

}  // namespace wulf::mpi
