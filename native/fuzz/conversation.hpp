#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "core/session/session.hpp"

namespace wulf::fuzz {

/// A session of these operations, with the data as its stdin. Ends the process unless every line that is not
/// blank is answered by exactly one line of JSON, none of them `internal`.
void converse(std::map<std::string, Operation> operations, const std::uint8_t* data, std::size_t size);

}  // namespace wulf::fuzz
