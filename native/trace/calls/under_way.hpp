#pragma once

#include "trace/calls/requests.hpp"

namespace wulf::trace {

/// The requests of this process.
extern Requests under_way;

}  // namespace wulf::trace
