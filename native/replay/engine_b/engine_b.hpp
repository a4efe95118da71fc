#pragma once

#include <span>
#include <vector>

#include "replay/run/run.hpp"

namespace wulf::replay {

/// run_b on each network, in their order, shared out to `options.threads` threads; the answers are the same
/// for any number. Throws what the first network that fails threw.
[[nodiscard]] std::vector<Run> run_b_each(const Program& program, std::span<const Network> networks,
                                          const RunOptions& options);

}  // namespace wulf::replay
