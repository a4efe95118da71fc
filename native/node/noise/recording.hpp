#pragma once

#include <map>
#include <string>

#include "core/session/session.hpp"

namespace wulf::node {

/// `noise_start`: from now on, who has each CPU is recorded. `noise_stop` with the processes that are asked
/// about,
/// {"processes": [pid, …]}, of this PID namespace: what was taken from the first thread of each, by whom.
[[nodiscard]] std::map<std::string, Operation> recording_operations();

}  // namespace wulf::node
