#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace wulf::net {

/// A server's 128-bit key: who does not show that he has it is served nothing. It never travels.
using Key = std::array<std::uint8_t, 16>;

/// What shows it: keyed BLAKE2b (RFC 7693) of 128 bits, of what is said with it.
using Seal = std::array<std::uint8_t, 16>;

/// 32 hex digits. Throws bad-parameter, field "key", for anything else, without repeating it.
[[nodiscard]] Key parse_key(const std::string& hex);

/// The seal of one text in two parts.
[[nodiscard]] Seal seal_of(std::span<const std::byte> first, std::span<const std::byte> second,
                           const Key& key) noexcept;

/// Compares in a time that does not depend on where the seals differ.
[[nodiscard]] bool same_seal(const Seal& a, const Seal& b) noexcept;

}  // namespace wulf::net
