#pragma once

#include <map>
#include <string>

#include "core/session/session.hpp"

namespace wulf::node {

/// What `--describe` lists behind "ops": {"probes": [{"name", "group", "help", "params", "metrics"}, …]}.
[[nodiscard]] Json describe();

/// The program's own operations: `run`, one replicate of a probe, and those of a recording of who has the
/// CPUs. Two replicates never run at the same time: each would measure the other.
[[nodiscard]] std::map<std::string, Operation> operations();

/// What `run` asks for, without measuring. Throws bad-parameter.
void check_run(const Json& json);

}  // namespace wulf::node
