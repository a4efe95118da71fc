#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace wulf {

/// Bytes that this process could still use before the kernel ends it or another: what the host has available,
/// or what is left below the limits of its control groups (version 2), if that is less. Nothing where neither
/// can be read. `root` ("" = this machine) is where /proc and /sys are.
[[nodiscard]] std::optional<std::uint64_t> memory_left(const std::string& root = "");

/// Bytes of a page of this system.
[[nodiscard]] std::size_t page_bytes() noexcept;

/// Bytes of the largest cache of CPU 0, as the system reports it; 0 = not reported.
[[nodiscard]] std::uint64_t largest_cache(const std::string& root = "");

}  // namespace wulf
