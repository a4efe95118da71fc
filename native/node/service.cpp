#include "node/service.hpp"

#include <mutex>

#include "core/host/affinity.hpp"
#include "core/host/counters.hpp"
#include "core/json/error.hpp"
#include "core/session/registry.hpp"
#include "node/memory/working_set.hpp"
#include "node/noise/recording.hpp"
#include "node/os/unavailable.hpp"
#include "node/power/energy.hpp"
#include "node/probe.hpp"
#include "node/time/clock_rate.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

struct Request {
  const HostProbe& probe;
  Json params;
  SharedSet set;
};

Request read_request(const Json& json) {
  refuse_unknown_fields(json, {"id", "op", "probe", "params", "set"});
  const HostProbe& probe = Registry<HostProbe>::named_in(json, "probe");
  Request request{probe, probe.settle(json.value("params", Json::object())), SharedSet::of(json)};
  if (!request.set.name.empty() && !probe.shares_set(request.params)) {
    throw bad_parameter("set", "probe " + probe.name() + " has no working set to share, asked so");
  }
  return request;
}

/// The CPU to measure on: the one asked for, or the last one allowed, since the first serves most interrupts.
int choose_cpu(const Json& params) {
  const auto asked = optional_value<int>(params, "cpu");
  return asked ? *asked : allowed_cpus().back();
}

/// One replicate; what the host refuses is the reason of every metric.
Outcome measure(const Request& request) {
  try {
    return request.probe.measure(request.params);
  } catch (const Unavailable& refused) {
    Outcome outcome;
    for (const Metric& metric : request.probe.metrics()) {
      outcome.metrics[metric.name] = no_value(metric.unit, refused.what());
    }
    return outcome;
  }
}

/// One replicate, in the calling thread, which belongs to the request alone and may be bound to a CPU.
Json run(const Json& json) {
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  Request request = read_request(json);
  const int cpu = choose_cpu(request.params);
  pin_to_cpu(cpu, "cpu");
  request.params["cpu"] = cpu;
  begin_request(request.set, cpu, request.probe.name() + request.params.dump());
  const double rate_before = dependent_adds_per_second();
  const CounterTexts before = CounterTexts::read();
  const EnergyMeter meter;
  const EnergyMeter::Reading energy = meter.read();
  Outcome outcome = measure(request);
  outcome.info["energy"] = meter.used(energy, meter.read());
  const CounterTexts after = CounterTexts::read();
  outcome.info["cpu"] = cpu;
  outcome.info["clock_rate"] = {{"unit", "Hz"},
                                {"before", rate_before},
                                {"after", dependent_adds_per_second()},
                                {"source", "dependent additions"}};
  outcome.counters["client"] = before.delta(after);
  return outcome.answer();
}

}  // namespace

Json describe() { return {{"probes", Registry<HostProbe>::describe()}}; }

void check_run(const Json& json) { (void)read_request(json); }

std::map<std::string, Operation> operations() {
  std::map<std::string, Operation> all = recording_operations();
  all["run"] = {run, /*lengthy=*/true};
  return all;
}

}  // namespace wulf::node
