#include "node/memory/line_size.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;

TEST_CASE("a line's length is where second loads begin to miss") {
  const double hit = 10e-9;
  CHECK(find_line({{8, hit}, {16, hit}, {32, hit}, {64, 2 * hit}, {128, 2 * hit}}).line == 64);
  // the neighbour comes along, and costs less
  CHECK(find_line({{8, hit}, {32, hit}, {64, 1.2 * hit}, {128, 2 * hit}, {256, 2 * hit}}).line == 64);
  const LineFound flat = find_line({{8, hit}, {64, 1.1 * hit}, {128, 1.1 * hit}});
  CHECK(flat.line == 0);
  CHECK(!flat.reason.empty());
  CHECK(find_line({{8, hit}, {32, 1.5 * hit}, {64, hit}, {128, 2 * hit}}).line == 0);
}

}  // namespace
