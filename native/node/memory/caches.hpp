#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace wulf::node {

/// A cache of a CPU that holds data, as the system reports it.
struct Cache {
  int level = 0;
  std::size_t bytes = 0;
  std::string shared;  ///< by which CPUs, in the kernel's notation
};

/// The data and unified caches of a CPU, by level; empty where the system reports none. `root` ("" = this
/// machine) is where /sys is.
[[nodiscard]] std::vector<Cache> caches_of(int cpu, const std::string& root = "");

/// Bytes of the last caches of these CPUs together, each once however many share it; 0 = not reported.
[[nodiscard]] std::size_t last_caches(const std::vector<int>& cpus, const std::string& root = "");

}  // namespace wulf::node
