#include <cmath>
#include <string>

#include "core/host/affinity.hpp"
#include "core/json/error.hpp"
#include "core/session/registry.hpp"
#include "node/cpu/arithmetic_kernels.hpp"
#include "node/probe.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;
using wulf::Json;
using wulf::Registry;

/// One replicate, short unless it is to last longer, on a CPU that this process has.
Json run(const std::string& name, Json given) {
  const HostProbe* probe = Registry<HostProbe>::find(name);
  REQUIRE(probe != nullptr);
  if (!given.contains("seconds")) {
    given["seconds"] = 0.001;
  }
  given["cpu"] = wulf::process_cpus().front();
  return probe->measure(probe->settle(given)).metrics;
}

TEST_CASE("an instruction set that is not there has no value, but a reason") {
  std::size_t missing = 0;
  for (const char* isa : {"sse2", "avx2", "avx512", "neon"}) {
    const Json rate = run("fma", {{"isa", isa}}).at("rate");
    CHECK(rate.at("unit") == "flop/s");
    if (rate.at("value").is_null()) {
      ++missing;
      CHECK(rate.at("reason").get<std::string>().find(isa) != std::string::npos);
    } else {
      CHECK(rate.at("value").get<double>() > 0);
    }
  }
  CHECK(missing >= 1);  // no CPU has both x86's and ARM's
  CHECK(run("fma", {{"isa", "auto"}, {"type", "float"}}).at("rate").at("value").get<double>() > 0);
}

TEST_CASE("each probe of the CPU gives every metric that it describes") {
  for (const ArithmeticKernel& kernel : arithmetic_kernels()) {
    INFO(kernel.type << " " << kernel.op);
    const Json metrics = run("arithmetic", {{"type", kernel.type}, {"op", kernel.op}});
    CHECK(metrics.at("latency").at("value").get<double>() > 0);
    CHECK(metrics.at("throughput").at("value").get<double>() > 0);
  }
  // time enough for all runs, however busy the machine is
  const Json rate = run("cpu-rate", {{"bytes", 4096}, {"runs", 5}, {"seconds", 60}});
  CHECK(rate.at("deviation").at("n") == 5);
  const double product =
      rate.at("rate").at("value").get<double>() * rate.at("time").at("value").get<double>();
  CHECK(std::abs(product - 1) < 1e-9);
  CHECK(run("sha1", {{"bytes", 100}}).at("throughput").at("value").get<double>() > 0);
  CHECK(run("fft", {{"points", 64}}).at("rate").at("value").get<double>() > 0);
}

TEST_CASE("what the probes of the CPU can't do is refused") {
  CHECK_THROWS_AS(run("arithmetic", {{"type", "float"}, {"op", "mod"}}), wulf::Error);
  CHECK_THROWS_AS(run("arithmetic", {{"type", "int"}, {"op", "bogo"}}), wulf::Error);
  CHECK_THROWS_AS(run("fft", {{"points", 1000}}), wulf::Error);
  CHECK_THROWS_AS(run("fma", {{"threads", 8192}}), wulf::Error);
}

TEST_CASE("the peak of all CPUs is measured, too, or busy CPUs are the reason why not") {
  const Json rate = run("fma", {{"threads", 0}}).at("rate");
  if (rate.at("value").is_null()) {
    CHECK(rate.at("reason") == "the threads shared no time: the CPUs are busy");
  } else {
    CHECK(rate.at("value").get<double>() > 0);
  }
}

}  // namespace
