#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace wulf::mpi {

/// Fills a message with what its receiver can tell from any other's: pseudo-random bytes of `seed`, by
/// position (SplitMix64, Steele, Lea and Flood, OOPSLA 2014). The first byte is never zero.
void fill_pattern(std::span<std::byte> message, std::uint64_t seed);

/// A byte that is not as fill_pattern() made it.
struct Difference {
  std::size_t at;
  unsigned got;
  unsigned expected;
};

/// The first difference from the pattern of `seed`; nothing where all is right.
[[nodiscard]] std::optional<Difference> difference(std::span<const std::byte> message, std::uint64_t seed);

/// "byte 7 of 1024 is 0x00 instead of 0x1f"
[[nodiscard]] std::string describe(const Difference& wrong, std::size_t bytes);

}  // namespace wulf::mpi
