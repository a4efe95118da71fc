#include "net/flow/timetable.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

TEST_CASE("a timetable is fixed, and does not drift") {
  const Timetable table(3.0, kSecond);
  CHECK(table.due(0) == kSecond);
  CHECK(table.due(3) == 2 * kSecond);
  CHECK(table.due(3'000'000'000) == kSecond + (kSecond * kSecond));
  CHECK(table.within(2 * kSecond) == 6);
}

}  // namespace
