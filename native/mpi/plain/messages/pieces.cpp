#include "mpi/plain/messages/pieces.hpp"

#include <cstdint>

namespace wulf::mpi {
namespace {

constexpr std::size_t kRankTerms = 1024;
constexpr std::size_t kPlaceTerms = 8;

/// Sum of term_of(rank, i) over all ranks: whole cycles of the rank's part, the rest of one, the place's
/// part.
double sum_of(int ranks, std::size_t i) {
  const auto count = static_cast<std::size_t>(ranks);
  const std::size_t rest = count % kRankTerms;
  constexpr std::size_t kCycle = kRankTerms * (kRankTerms + 1) / 2;
  const std::size_t sum =
      (count / kRankTerms * kCycle) + (rest * (rest + 1) / 2) + (count * (i % kPlaceTerms));
  return static_cast<double>(sum);
}

}  // namespace

std::size_t total(const Pieces& pieces) {
  std::size_t sum = 0;
  for (const Piece& piece : pieces) {
    sum += piece.length;
  }
  return sum;
}

std::byte byte_of(int from, int to, std::size_t i) {
  // odd factors, so that each alone reaches all 256 values; the folded place also tells blocks of 256 apart
  const std::size_t place = i + (i >> 8U) + (i >> 16U);
  const std::size_t sum =
      (static_cast<std::size_t>(from) * 167) + (static_cast<std::size_t>(to) * 59) + (place * 13) + 1;
  return static_cast<std::byte>(sum & 0xFFU);
}

void fill(std::span<std::byte> buffer, const Pieces& pieces) {
  std::size_t at = 0;
  for (const Piece& piece : pieces) {
    for (std::size_t i = 0; i < piece.length; ++i) {
      buffer[at++] = byte_of(piece.from, piece.to, piece.first + i);
    }
  }
}

std::optional<std::string> wrong_byte(std::span<const std::byte> buffer, const Pieces& pieces) {
  std::size_t at = 0;
  for (const Piece& piece : pieces) {
    for (std::size_t i = 0; i < piece.length; ++i, ++at) {
      const std::byte expected = byte_of(piece.from, piece.to, piece.first + i);
      if (buffer[at] != expected) {
        return "byte " + std::to_string(piece.first + i) + " of what rank " + std::to_string(piece.from) +
               " has for rank " + std::to_string(piece.to) + " is " +
               std::to_string(std::to_integer<int>(buffer[at])) + " instead of " +
               std::to_string(std::to_integer<int>(expected));
      }
    }
  }
  return std::nullopt;
}

float term_of(int rank, std::size_t i) {
  return static_cast<float>((static_cast<std::size_t>(rank) % kRankTerms) + 1 + (i % kPlaceTerms));
}

void fill_terms(std::span<float> terms, int rank) {
  for (std::size_t i = 0; i < terms.size(); ++i) {
    terms[i] = term_of(rank, i);
  }
}

std::optional<std::string> wrong_sum(std::span<const float> sums, int ranks, std::size_t first) {
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const auto expected = static_cast<float>(sum_of(ranks, first + i));
    if (sums[i] != expected) {
      return "element " + std::to_string(first + i) + " of the sum over " + std::to_string(ranks) +
             " ranks is " + std::to_string(sums[i]) + " instead of " + std::to_string(expected);
    }
  }
  return std::nullopt;
}

std::vector<int> even_shares(std::size_t count, int ranks) {
  const auto parts = static_cast<std::size_t>(ranks);
  std::vector<int> shares;
  shares.reserve(parts);
  for (std::size_t rank = 0; rank < parts; ++rank) {
    shares.push_back(static_cast<int>((count / parts) + (rank < count % parts ? 1 : 0)));
  }
  return shares;
}

}  // namespace wulf::mpi
