#include "core/time/clock.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;

TEST_CASE("the clock's cost and resolution are measured, and plausible") {
  const ClockQuality quality = measure_clock();
  CHECK(quality.overhead > 0);
  CHECK(quality.overhead < 1e-4);
  CHECK(quality.resolution >= 1e-9);
  CHECK(quality.resolution < 0.1);
}

TEST_CASE("the clock's description has readings between the asker's own") {
  const double before = to_seconds(now());
  const Json first = describe_clock();
  const Json second = describe_clock();
  const auto at = [](const Json& clock) { return clock.at("monotonic").get<double>(); };
  CHECK(at(first) >= before);
  CHECK(at(second) >= at(first));
  CHECK(at(second) <= to_seconds(now()));
  CHECK(second.at("overhead") == first.at("overhead"));  // measured once
  CHECK(second.at("realtime").get<double>() > 1e9);
}

TEST_CASE("seconds and nanoseconds") {
  CHECK(from_seconds(0.25) == 250'000'000);
  CHECK(to_seconds(1'500'000'000) == 1.5);
}

}  // namespace
