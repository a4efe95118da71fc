#include <algorithm>
#include <chrono>
#include <thread>

#include "core/time/clock.hpp"
#include "node/power/energy.hpp"
#include "node/probe.hpp"

namespace wulf::node {
namespace {

/// What the host draws while this program sleeps: its power at rest, if nobody else works.
class Power final : public HostProbe {
 public:
  Power() : HostProbe("power", "power", "what processors and memory draw while this program does nothing") {}

  [[nodiscard]] std::vector<Param> params() const override { return {}; }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"package", "W", "lower", "all processors of the host"},
            {"memory", "W", "lower", "all memory of the host"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    constexpr double kLeast = 0.01;  // the counters move about once in a millisecond
    const EnergyMeter meter;
    const EnergyMeter::Reading before = meter.read();
    if (!meter.counters().empty()) {
      std::this_thread::sleep_for(
          std::chrono::duration<double>(std::max(params.at("seconds").get<double>(), kLeast)));
    }
    const EnergyMeter::Reading after = meter.read();
    return {.metrics = {{"package", meter.power("package", before, after)},
                        {"memory", meter.power("memory", before, after)}},
            .seconds = to_seconds(after.at - before.at),
            .info = Json::object()};
  }
};

const Registered<HostProbe> registered_power{std::make_unique<Power>()};

}  // namespace
}  // namespace wulf::node
