#pragma once

#include <map>
#include <string>

#include "core/json/json.hpp"
#include "core/session/program.hpp"
#include "core/session/session.hpp"

namespace wulf {

/// The session's first line.
[[nodiscard]] Json greeting(const Program& program);

/// What --describe prints.
[[nodiscard]] Json description(const Program& program);

/// The program's own operations, and those that every program has.
[[nodiscard]] std::map<std::string, Operation> all_operations(const Program& program);

/// The second safety, beside the end of stdin: ends this process when its parent has died. The kernel signals
/// when the parent's *thread* ends (prctl(2), PR_SET_PDEATHSIG), so only a changed parent counts.
void end_with_parent();

}  // namespace wulf
