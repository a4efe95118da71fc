#include "core/host/schedstat.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;

TEST_CASE("schedstat, and its absence") {
  const auto stat = parse_schedstat("1032634 32009093 2\n");
  REQUIRE(stat);
  CHECK(stat->waited == 32009093);
  CHECK(stat->turns == 2);
  CHECK_FALSE(parse_schedstat(""));
  CHECK_FALSE(parse_schedstat("12 x"));
}

}  // namespace
