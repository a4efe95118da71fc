#pragma once

#include <string>

#include "replay/collectives/call.hpp"
#include "replay/lower/comms.hpp"
#include "trace/format/record.hpp"

namespace wulf::replay {

[[nodiscard]] bool is_collective(trace::Op op);
/// Of those, the ones that return before they are done.
[[nodiscard]] bool is_nonblocking(trace::Op op);

/// "allgatherv" of MPI_Allgatherv and of MPI_Iallgatherv; "neighbor" of all of neighbourhoods.
[[nodiscard]] std::string operation_of(trace::Op op);

/// A recorded collective as its algorithms want it, by docs/reference/trace-format.md's table of bytes.
/// Throws `trace` where its counts or its root do not fit the communicator.
[[nodiscard]] Call call_of(const trace::Record& record, Comm& comm);

}  // namespace wulf::replay
