#include "node/time/clock_rate.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;

TEST_CASE("dependent additions come at a rate that a CPU can have") {
  const double rate = dependent_adds_per_second();
  CHECK(rate > 1e7);   // an emulated one
  CHECK(rate < 1e10);  // additions that cost no cycle would seem faster
}

}  // namespace
