#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace wulf {

using Sha1Digest = std::array<std::uint32_t, 5>;

/// The SHA-1 digest (FIPS 180-4, section 6.1) of `data`, as five words of which the first is the most
/// significant; portable code. It measures a CPU: nothing is secured by it.
[[nodiscard]] Sha1Digest sha1(std::span<const std::byte> data) noexcept;

}  // namespace wulf
