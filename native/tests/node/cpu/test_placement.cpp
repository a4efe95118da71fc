#include <vector>

#include "node/cpu/placement.hpp"
#include "node/os/unavailable.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;

TEST_CASE("processes on one CPU, or round robin from the one that measures") {
  const std::vector<int> allowed{0, 2, 5};
  CHECK(place("same", {3}, 3, 2) == std::vector<int>{3, 3});
  CHECK(place("spread", allowed, 2, 4) == std::vector<int>{2, 5, 0, 2});
  CHECK_THROWS_AS(place("spread", {4}, 4, 2), Unavailable);
}

}  // namespace
