#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace wulf::mpi {

/// A part of a buffer: what rank `from` has for rank `to`, beginning with its byte `first`.
struct Piece {
  int from = 0;
  int to = 0;
  std::size_t length = 0;
  std::size_t first = 0;
};

/// A buffer's pieces, one after the other.
using Pieces = std::vector<Piece>;

[[nodiscard]] std::size_t total(const Pieces& pieces);

/// Byte `i` of what `from` has for `to`. Another rank (of 256), receiver or place gives another byte.
[[nodiscard]] std::byte byte_of(int from, int to, std::size_t i);

/// Writes what belongs into a buffer.
void fill(std::span<std::byte> buffer, const Pieces& pieces);

/// What is wrong in a buffer, or nothing: "byte 7 of what rank 2 has for rank 0 is 4 instead of 9".
[[nodiscard]] std::optional<std::string> wrong_byte(std::span<const std::byte> buffer, const Pieces& pieces);

/// Term `i` that `rank` gives to a sum. One that is missing, or counted twice, shows in the sum; whole
/// numbers, which stay exact in single precision for more than 10,000 ranks.
[[nodiscard]] float term_of(int rank, std::size_t i);

/// Writes a rank's terms.
void fill_terms(std::span<float> terms, int rank);

/// What is wrong in sums over `ranks` ranks' terms from `first` on, or nothing: "element 3 is 5 instead of
/// 6".
[[nodiscard]] std::optional<std::string> wrong_sum(std::span<const float> sums, int ranks, std::size_t first);

/// `count` items over `ranks` as evenly as can be; the first ones get more.
[[nodiscard]] std::vector<int> even_shares(std::size_t count, int ranks);

}  // namespace wulf::mpi
