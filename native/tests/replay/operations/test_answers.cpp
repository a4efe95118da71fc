#include "replay/operations/answers.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::replay;

TEST_CASE("replay: numbers beyond 64 bits and fractions are doubles") {
  CHECK(number(7, 7) == Json(1));
  CHECK(number(7, 2) == Json(3.5));
  CHECK(number(Fine{INT64_MAX} * 4, 2) == Json(2.0 * static_cast<double>(INT64_MAX)));
  CHECK_FALSE(number(Fine{INT64_MAX} * 4, 2).is_integer());
}

}  // namespace
