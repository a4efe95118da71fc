#pragma once

#include <cstddef>
#include <cstdint>

namespace wulf::trace {

/// CRC-32 as zlib computes it (polynomial 0xEDB88320, reflected), eight bytes a step.
std::uint32_t crc32(const std::uint8_t* data, std::size_t length) noexcept;

}  // namespace wulf::trace
