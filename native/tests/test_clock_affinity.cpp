#include <sched.h>

#include <thread>

#include "core/host/affinity.hpp"
#include "core/json/error.hpp"
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

TEST_CASE("CPU lists are written as the kernel writes them") {
  CHECK(cpu_list({}).empty());
  CHECK(cpu_list({4}) == "4");
  CHECK(cpu_list({0, 1, 2, 3, 8}) == "0-3,8");
  CHECK(cpu_list({0, 2, 3}) == "0,2-3");
}

TEST_CASE("a pinned thread runs where it was told") {
  const int cpu = allowed_cpus().back();
  std::thread([cpu] {
    pin_to_cpu(cpu, "cpu");
    CHECK(allowed_cpus() == std::vector<int>{cpu});
    CHECK(sched_getcpu() == cpu);
  }).join();
}

TEST_CASE("a CPU that is not allowed is refused by name") {
  try {
    pin_to_cpu(8000, "server_cpu");
    FAIL("CPU 8000 was accepted");
  } catch (const Error& error) {
    CHECK(error.code() == "bad-parameter");
    CHECK(error.field() == "server_cpu");
    CHECK(std::string(error.what()).find(cpu_list(allowed_cpus())) != std::string::npos);
  }
}

}  // namespace
