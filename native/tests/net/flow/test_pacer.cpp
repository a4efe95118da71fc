#include <atomic>
#include <cmath>

#include "net/flow/pacer.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

TEST_CASE("a schedule keeps its rate, however late each sender was") {
  Schedule schedule(3e6, 0);  // a byte every third of a microsecond: the thirds add up
  Nanoseconds late = 0;
  for (int i = 0; i < 3'000'000; ++i) {
    late = schedule.due(late) + 900'000;  // within the millisecond that may be caught up
    schedule.sent(1);
  }
  CHECK(std::abs(schedule.due(0) - kSecond) <= 1);
}

TEST_CASE("who fell behind a schedule catches up by a millisecond at most") {
  Schedule schedule(1e6, 0);
  CHECK(schedule.due(kSecond) == kSecond - kMillisecond);
  schedule.sent(400);
  CHECK(schedule.due(kSecond) == kSecond - 600'000);
  schedule.sent(1000);
  CHECK(schedule.due(kSecond) == kSecond + 400'000);
}

TEST_CASE("a pacer is never ahead of its rate, and is stopped in its sleep") {
  const std::atomic<bool> go{false};
  Pacer pacer(1e6);
  const Nanoseconds start = now();
  for (int i = 0; i < 51; ++i) {
    REQUIRE(pacer.wait(1000, go));
  }
  CHECK(to_seconds(now() - start) >= 0.0485);  // the 51st is due 50 ms after the first
  const std::atomic<bool> stop{true};
  Pacer slow(1);
  REQUIRE(slow.wait(1000, stop));
  CHECK_FALSE(slow.wait(1000, stop));
}

}  // namespace
