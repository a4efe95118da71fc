#pragma once

#include <string>

namespace wulf::mpi {

/// How near a worker is to its master: "same CPU", "same core" (its sibling), "same socket", "other socket",
/// "same node" where it may move over several sockets, "other node".
///
/// Of two hosts' names and of the CPUs that both may use, as "0-3,8"; `cpus` is the master's folder
/// /sys/devices/system/cpu. Ranks that aren't bound to a core are as far apart as they may get.
[[nodiscard]] std::string nearness(const std::string& master_host, const std::string& master_cpus,
                                   const std::string& worker_host, const std::string& worker_cpus,
                                   const std::string& cpus = "/sys/devices/system/cpu");

}  // namespace wulf::mpi
