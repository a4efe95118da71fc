#include "node/os/self_signal.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

Outcome measure_install(double seconds) {
  const SelfSignal signal;
  const Samples samples = time_batches([](std::uint64_t count) { SelfSignal::install(count); }, seconds);
  return {.metrics = {{"latency", samples.metric()},
                      {"excess", no_value("s", "nothing is sent where a handler is installed")}},
          .seconds = samples.spent(),
          .info = Json::object()};
}

Outcome measure_handle(double seconds) {
  const SelfSignal signal;
  const auto [whole, sending] = time_in_turn<2>({[&](std::uint64_t count) { signal.send(count); },
                                                 [&](std::uint64_t count) { signal.send_none(count); }},
                                                seconds);
  const Json excess =
      whole.less(sending.median()).metric_above_zero("a signal took no longer than the call that sends it");
  return {.metrics = {{"latency", whole.metric()}, {"excess", excess}},
          .seconds = whole.spent() + sending.spent(),
          .info = {{"sending", sending.metric()}}};
}

/// lmbench's signal handler installation, and its handler overhead (excess: lat_sig takes off a kill(2) with
/// signal 0).
class Signal final : public HostProbe {
 public:
  Signal() : HostProbe("signal", "os", "a signal: its handler is installed, or sent one and run") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return {{"action",
             ParamType::kStr,
             "",
             "install",
             nullptr,
             nullptr,
             "sigaction(2); or a signal to the own thread, its handler and the way back",
             {"install", "handle"}}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "one installation, or one signal with its sending"},
            {"excess", "s", "lower", "handle: a signal, less the call that sends, as lmbench"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto seconds = params.at("seconds").get<double>();
    return params.at("action") == "install" ? measure_install(seconds) : measure_handle(seconds);
  }
};

const Registered<HostProbe> registered_signal{std::make_unique<Signal>()};

}  // namespace
}  // namespace wulf::node
