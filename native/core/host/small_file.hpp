#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace wulf {

/// The first line of a file of /proc or /sys; empty where it can't be read.
[[nodiscard]] std::string line_in(const std::string& path);

/// The number that a file begins with; nothing where it can't be read, or begins with a word ("max").
[[nodiscard]] std::optional<std::uint64_t> number_in(const std::string& path);

}  // namespace wulf
