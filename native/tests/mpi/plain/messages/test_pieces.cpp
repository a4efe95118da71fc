#include <array>
#include <cstddef>
#include <vector>

#include "mpi/plain/messages/pieces.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::mpi;

TEST_CASE("every byte of a message tells its sender, its receiver and its place") {
  for (int other = 1; other < 256; ++other) {
    CHECK(byte_of(other, 0, 5) != byte_of(0, 0, 5));
    CHECK(byte_of(0, other, 5) != byte_of(0, 0, 5));
    CHECK(byte_of(0, 0, static_cast<std::size_t>(other)) != byte_of(0, 0, 0));
  }
  CHECK(byte_of(0, 0, 256) != byte_of(0, 0, 0));
  CHECK(byte_of(0, 0, 65536) != byte_of(0, 0, 0));
}

TEST_CASE("a buffer that holds what it should has no difference; any other is named") {
  const Pieces pieces{{0, 2, 3}, {1, 2, 4, 8}};
  std::vector<std::byte> buffer(total(pieces));
  fill(buffer, pieces);
  CHECK_FALSE(wrong_byte(buffer, pieces));
  buffer[4] ^= std::byte{1};
  REQUIRE(wrong_byte(buffer, pieces));
  CHECK(wrong_byte(buffer, pieces)->find("byte 9 of what rank 1 has for rank 2 is ") == 0);
  fill(buffer, {{1, 2, 3}, {0, 2, 4, 8}});  // the right pieces from the wrong ranks
  CHECK(wrong_byte(buffer, pieces));
}

TEST_CASE("a sum shows which contribution is missing, or counted twice") {
  constexpr int kRanks = 5;
  std::array<float, 20> sums{};
  for (int rank = 0; rank < kRanks; ++rank) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      sums.at(i) += term_of(rank, i + 3);
    }
  }
  CHECK_FALSE(wrong_sum(sums, kRanks, 3));
  CHECK(wrong_sum(sums, kRanks, 4));
  for (int rank = 0; rank < kRanks; ++rank) {
    for (const float sign : {1.0F, -1.0F}) {
      std::array<float, 20> wrong = sums;
      wrong[7] += sign * term_of(rank, 10);
      REQUIRE(wrong_sum(wrong, kRanks, 3));
      CHECK(wrong_sum(wrong, kRanks, 3)->find("element 10 of the sum over 5 ranks is ") == 0);
    }
  }
}

TEST_CASE("sums over many thousand ranks are exact") {
  constexpr int kRanks = 10'000;
  float sum = 0;
  for (int rank = 0; rank < kRanks; ++rank) {
    sum += term_of(rank, 7);
  }
  const std::array<float, 1> sums{sum};
  CHECK_FALSE(wrong_sum(sums, kRanks, 7));
}

TEST_CASE("shares are as even as can be") {
  CHECK(even_shares(10, 3) == std::vector<int>{4, 3, 3});
  CHECK(even_shares(2, 3) == std::vector<int>{1, 1, 0});
}

}  // namespace
