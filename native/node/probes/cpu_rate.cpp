#include <algorithm>

#include "node/cpu/brown.hpp"
#include "node/memory/pages.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

/// Long enough for the clock's own cost to be a thousandth.
constexpr Nanoseconds kLeastRun = 30 * kMicrosecond;

void repeat(std::span<double> x, std::uint64_t passes) {
  for (std::uint64_t i = 0; i < passes; ++i) {
    brown_pass(x);
    keep_memory();
  }
}

/// How many passes a run needs to last kLeastRun.
std::uint64_t passes_of(std::span<double> x) {
  auto body = [&](std::uint64_t passes) {
    brown_reset(x);
    repeat(x, passes);
  };
  return calibrate(body, kLeastRun);
}

/// Seconds an operation, one figure a run. Stops before `runs` when `seconds` are over.
Samples sample(std::span<double> x, std::uint64_t passes, std::size_t runs, double seconds) {
  constexpr std::size_t kLeast = 3;
  const std::uint64_t operations = passes * x.size() * kBrownOperations;
  Samples samples;
  while (samples.size() < runs && (samples.size() < kLeast || samples.spent() < seconds)) {
    brown_reset(x);
    keep_memory();
    const Nanoseconds start = now();
    repeat(x, passes);
    samples.add(to_seconds(now() - start) / static_cast<double>(operations), operations);
  }
  return samples;
}

/// Brown's sweep point: mean and standard deviation of a rate over a working set.
class CpuRate final : public HostProbe {
 public:
  CpuRate() : HostProbe("cpu-rate", "cpu", "x = (1 + x)(1.5 - x)/x over an array: mean and deviation") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr std::int64_t kMost = std::int64_t{1} << 40U;
    return {{"bytes", ParamType::kInt, "B", 32768, 8, kMost, "size of the array"},
            {"runs", ParamType::kInt, "1", 100, 3, 1'000'000,
             "runs, each from fresh numbers; fewer where their time would exceed seconds"}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"rate", "Hz", "higher", "floating-point operations a second, four an element, by the mean"},
            {"time", "s", "lower", "mean time of an operation"},
            {"deviation", "s", "lower", "standard deviation of the runs' times of an operation"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const Pages pages(params.at("bytes").get<std::size_t>(), "default");
    const auto x = pages.as<double>();
    const std::uint64_t passes = passes_of(x);
    const Samples samples =
        sample(x, passes, params.at("runs").get<std::size_t>(), params.at("seconds").get<double>());
    return {.metrics = metrics_of(samples), .seconds = samples.spent(), .info = info(samples, passes, pages)};
  }

 private:
  static Json metrics_of(const Samples& samples) {
    Json time = samples.metric();
    time["value"] = samples.mean();
    Json rate = samples.rate("Hz");
    rate["value"] = 1 / samples.mean();
    return {{"rate", rate},
            {"time", time},
            {"deviation", {{"unit", "s"}, {"value", samples.deviation()}, {"n", samples.size()}}}};
  }

  static Json info(const Samples& samples, std::uint64_t passes, const Pages& pages) {
    return {{"operands", "before each run random numbers in [1, 2), always the same"},
            {"runs", samples.size()},
            {"passes", passes},
            {"pages", pages.info()}};
  }
};

const Registered<HostProbe> registered_cpu_rate{std::make_unique<CpuRate>()};

}  // namespace
}  // namespace wulf::node
