#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace wulf::net {

/// A session's 128-bit key: who does not show it is served nothing.
using Key = std::array<std::uint8_t, 16>;

/// 32 hex digits. Throws bad-parameter, field "key", for anything else, without repeating it.
[[nodiscard]] Key parse_key(const std::string& hex);

/// Compares in a time that does not depend on where the keys differ.
[[nodiscard]] bool same_key(const Key& a, const Key& b) noexcept;

}  // namespace wulf::net
