#pragma once

#include <cstdint>

namespace wulf::trace {

/// Whether call sites are recorded (WULF_TRACE_SITES=1).
extern bool record_sites;

/// The note of the call site that the next record has, with what it is where it is new; null: no memory.
std::uint8_t* put_site(std::uint8_t* at, const void* site);

}  // namespace wulf::trace
