#pragma once

#include "replay/collectives/call.hpp"

namespace wulf::replay {

/// Every rank has the block of its own turned number in its result, and gets all others. `blocks` and numbers
/// are turned by the call's root, so that a broadcast can end with it.
void gather_by_ring(const Call& call, const Blocks& blocks, Steps& steps);

/// The same by doubling distances; the number of ranks must be a power of two.
void gather_by_doubling(const Call& call, const Blocks& blocks, Steps& steps);

}  // namespace wulf::replay
