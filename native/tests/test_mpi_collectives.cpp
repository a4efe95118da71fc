#include <array>

#include "mpi/plain/messages/pieces.hpp"
#include "mpi/plain/time/windows.hpp"
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

/// A call that all ranks of two enter on time, and leave after `length`.
Call call_at(Nanoseconds start, Nanoseconds length) {
  return {.first_start = start, .last_start = start + 40, .last_end = start + length, .spent = 2 * length};
}

TEST_CASE("late and overrun samples are counted, and don't count") {
  Windows windows(10'000, 1000);
  REQUIRE(windows.window() == 35'000);
  CHECK(windows.count(kMillisecond) == 28);
  CHECK(windows.count(1) == 1);
  std::vector<Call> calls;
  calls.reserve(40);
  for (int i = 0; i < 40; ++i) {
    calls.push_back(call_at(i * windows.window(), 9000));
  }
  calls[3].last_start += 2000;    // a rank was late
  calls[7].last_end += 40'000;    // and one was still inside when the next was due
  calls[8].last_start += 14'000;  // so that it was late for that
  windows.take(0, calls);
  CHECK(windows.late() == 2);
  CHECK(windows.overrun() == 1);
  CHECK(windows.times() == std::vector<double>(37, 9e-6));
  CHECK(windows.skews() == std::vector<double>(37, 4e-8));
  CHECK(windows.spent() == std::vector<double>(37, 18e-6));
  CHECK(windows.window() == 35'000);
}

TEST_CASE("the window grows while samples don't fit, and shrinks to what they need") {
  Windows windows(1000, 1000);
  const Nanoseconds narrow = windows.window();
  windows.take(0, {call_at(0, narrow + 1), call_at(narrow, 900)});
  CHECK(windows.window() == 2 * narrow);
  for (int i = 0; i < 5; ++i) {
    windows.take(0, {call_at(0, windows.window() + 1)});
  }
  CHECK(windows.window() == 16 * narrow);  // beyond, it is not room that lacks
  windows.take(0, {call_at(0, 10'000)});
  CHECK(windows.window() == 30'000);
}

}  // namespace
