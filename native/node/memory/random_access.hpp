#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>

namespace wulf::node {

/// HPCC's sequence: x → 2x, plus 7 where x was negative, in the polynomials over GF(2) modulo x⁶³+x²+x+1.
[[nodiscard]] constexpr std::uint64_t next_update(std::uint64_t x) noexcept {
  constexpr std::uint64_t kPolynomial = 7;
  constexpr unsigned kSign = 63;
  return (x << 1U) ^ ((x >> kSign) * kPolynomial);
}

/// The n-th number after 1 of that sequence (HPCC_starts).
[[nodiscard]] std::uint64_t update_at(std::uint64_t n) noexcept;

inline constexpr std::size_t kLookAhead = 128;  ///< HPCC's: so many updates may be made from old values

/// A table of a power of two words, each its own number to begin with, and one thread's part of the updates.
class Updates {
 public:
  Updates(std::span<std::uint64_t> table, std::size_t rank) noexcept;

  /// kLookAhead updates, `rounds` times: table[x mod size] ^= x, one of each of kLookAhead sequences in turn.
  /// Threads are not kept apart: an update may be lost, as HPCC allows for.
  void run(std::uint64_t rounds) noexcept;

  /// The same without any loss, for checking; from the begin.
  void repeat(std::uint64_t rounds) noexcept;

 private:
  template <typename Change>
  void update(std::uint64_t rounds, Change change) noexcept;
  void rewind() noexcept;

  std::span<std::uint64_t> table_;
  std::size_t rank_;
  std::array<std::uint64_t, kLookAhead> state_{};
};

/// Words that do not hold their own number.
[[nodiscard]] std::uint64_t wrong_words(std::span<const std::uint64_t> table) noexcept;

}  // namespace wulf::node
