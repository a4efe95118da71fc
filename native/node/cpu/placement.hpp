#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/json/params.hpp"

namespace wulf::node {

/// The parameter `placement` of probes with several processes or threads: "same" CPU, or "spread".
[[nodiscard]] Param placement_param();

/// Pure: CPUs for `count` processes, the first on `cpu`: all there ("same"), or round robin over `allowed`,
/// which is ascending and holds `cpu` ("spread"). Throws Unavailable where there is one CPU to spread over.
[[nodiscard]] std::vector<int> place(const std::string& placement, const std::vector<int>& allowed, int cpu,
                                     std::size_t count);

/// As above, over the CPUs that this program may use: the calling thread is bound to one of them.
[[nodiscard]] std::vector<int> place(const std::string& placement, int cpu, std::size_t count);

/// Binds the calling thread. Needs no memory, so that a forked child may call it.
[[nodiscard]] bool bind_to(int cpu) noexcept;

}  // namespace wulf::node
