#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "node/time/noise.hpp"
#include "tests/catch.hpp"
#include "tests/tree.hpp"

namespace {

using namespace wulf::node;
using wulf::Json;
using wulf::tests::Tree;

bool near(double value, double expected) { return std::abs(value - expected) <= 1e-9 * std::abs(expected); }

TEST_CASE("detours: what gaps took beyond an ordinary step, the longest, and how often") {
  const std::vector<Gap> gaps{{100, 60}, {500, 210}};
  const Detours detours = analyse_detours(gaps, 10, 20, 1000, 1e-3);
  CHECK(near(detours.lost, 0.25));
  CHECK(near(detours.worst, 0.21));
  CHECK(near(detours.rate, 2.0));
  const Detours calm = analyse_detours({}, 10, 20, 1000, 1e-3);
  CHECK(calm.lost == 0);
  CHECK(calm.rate == 0);
  CHECK(near(calm.worst, 0.02));
  const Json longest = longest_gaps(gaps, 1, 1e-3);
  REQUIRE(longest.size() == 1);
  CHECK(near(longest[0].at("at").get<double>(), 0.5));
}

TEST_CASE("fixed time quanta: the best one shows what could be done") {
  const std::vector<std::uint64_t> work{100, 100, 50, 100, 0};
  const Quanta quanta = analyse_quanta(work, 1e-3);
  CHECK(near(quanta.lost, 0.3));
  CHECK(near(quanta.worst, 1e-3));
  const std::vector<std::uint64_t> absence{100, 50, 0, 0, 30, 90};  // one, longer than a quantum
  CHECK(near(analyse_quanta(absence, 1e-3).worst, 3.2e-3));
  const std::vector<std::uint64_t> even{7, 7};
  CHECK(analyse_quanta(even, 1e-3).lost == 0);
}

TEST_CASE("osnoise: the lines of one CPU, added up") {
  const std::string trace =
      "# tracer: osnoise\n"
      "#           TASK-PID      CPU# ||||    TIMESTAMP    RUNTIME       NOISE  % OF CPU  NOISE    +-\n"
      "           <...>-859     [000] ....    81.637220: 1000000        190  99.98100       9     18\n"
      "           <...>-860     [001] ....    81.638154: 1000000        656  99.93440      74     23\n"
      "           <...>-859     [000] ....    82.638157: 1000000        310  99.96900      12      0\n";
  const Json found = parse_osnoise(trace, 0);
  CHECK(near(found.at("share").get<double>(), 250e-6));
  CHECK(near(found.at("worst").get<double>(), 12e-6));
  CHECK(parse_osnoise(trace, 7).is_null());
  Tree tree;
  CHECK(osnoise(tree.path(), 0).at("reason").get<std::string>().find("cannot be read") != std::string::npos);
  tree.put("/sys/kernel/tracing/current_tracer", "nop\n");
  CHECK(osnoise(tree.path(), 0).at("reason").get<std::string>().find("'nop'") != std::string::npos);
  tree.put("/sys/kernel/tracing/current_tracer", "osnoise\n");
  tree.put("/sys/kernel/tracing/trace", trace);
  CHECK(near(osnoise(tree.path(), 1).at("value").get<double>(), 656e-6));
}

}  // namespace
