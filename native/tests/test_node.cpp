#include <cmath>
#include <cstdint>
#include <set>
#include <string>

#include "core/session/registry.hpp"
#include "node/probe.hpp"
#include "node/time/clock_rate.hpp"
#include "node/time/timing.hpp"
#include "tests/catch.hpp"

using namespace wulf::node;
using wulf::Registry;

TEST_CASE("every probe says what it is, and names no parameter or metric twice") {
  for (const Probe* probe : Registry<Probe>::all()) {
    INFO(probe->name());
    const wulf::Json described = probe->describe();
    CHECK(!described.at("help").get<std::string>().empty());
    CHECK(!described.at("metrics").empty());
    const std::set<std::string> groups{"cpu", "memory", "os", "noise", "power"};
    CHECK(groups.count(described.at("group").get<std::string>()) == 1);
    std::set<std::string> names;
    for (const auto& param : described.at("params")) {
      CHECK(names.insert(param.at("name").get<std::string>()).second);
    }
    for (const auto& metric : described.at("metrics")) {
      CHECK(names.insert(metric.at("name").get<std::string>()).second);
    }
  }
}

TEST_CASE("batches hold as many operations as they say, and at least three are timed") {
  std::uint64_t done = 0;
  const Samples samples = time_batches([&](std::uint64_t count) { done += count; }, 0.0);
  CHECK(samples.size() >= 3);
  CHECK(samples.operations() <= done);  // the warm-up's are not counted
  CHECK(samples.operations() % samples.size() == 0);
}

TEST_CASE("samples are described by their median, and a rate is that of each batch") {
  Samples samples;
  for (const double each : {2e-9, 1e-9, 4e-9}) {
    samples.add(each, 10);
  }
  const wulf::Json metric = samples.metric();
  CHECK(metric.at("value") == 2e-9);
  CHECK(metric.at("min") == 1e-9);
  CHECK(metric.at("n") == 30);
  CHECK(std::abs((samples.rate("B/s", 8).at("value").get<double>() / 4e9) - 1) < 1e-9);
  CHECK(std::abs((samples.spent() / 7e-8) - 1) < 1e-9);
  CHECK(std::abs((samples.deviation() / 1.527525e-9) - 1) < 1e-6);
}

TEST_CASE("dependent additions come at a rate that a CPU can have") {
  const double rate = dependent_adds_per_second();
  CHECK(rate > 1e7);   // an emulated one
  CHECK(rate < 1e10);  // additions that cost no cycle would seem faster
}
