#include <cmath>
#include <vector>

#include "node/cpu/brown.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;

TEST_CASE("Brown's numbers lie in [1, 2), are the same each time, and are not all alike") {
  std::vector<double> x(1000);
  std::vector<double> again(1000);
  brown_reset(x);
  brown_reset(again);
  CHECK(x == again);
  double sum = 0;
  for (const double each : x) {
    CHECK((each >= 1 && each < 2));
    sum += each;
  }
  CHECK(std::abs((sum / 1000) - 1.5) < 0.05);
  brown_pass(x);
  for (std::size_t i = 0; i < x.size(); ++i) {
    CHECK(x[i] == (1 + again[i]) * (1.5 - again[i]) / again[i]);
  }
}

}  // namespace
