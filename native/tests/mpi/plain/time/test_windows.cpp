#include <vector>

#include "mpi/plain/time/windows.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::mpi;

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
