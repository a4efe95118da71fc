#pragma once

#include <cstdint>

#include "trace/format/fields.hpp"

namespace wulf::trace {

/// The trace ends; it may go on, and end again.
void finish(Ended why, std::uint64_t detail);

/// What the end says of the time, and of what was lost.
void take_stock(Totals& totals);

/// Write out what is whole when a signal ends the process; the signal does what it would have done.
void watch_signals();

/// The header's text, in memory that stays; null: none is there.
const char* header_text(int rank, int size, int thread_level, std::uint64_t init_ns, std::uint64_t cost_ns);

}  // namespace wulf::trace
