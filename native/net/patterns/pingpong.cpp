#include "net/client/timed.hpp"
#include "net/flow/exchange.hpp"

namespace wulf::net {
namespace {

/// One message there and back at a time.
class PingPong final : public ClientTimed {
 public:
  PingPong() : ClientTimed("pingpong", "one message to the server and back at a time: the round trip") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kSeconds = 0.1;
    constexpr std::int64_t kMost = 1'000'000'000;
    std::vector<Param> list{{"bytes", ParamType::kInt, "B", 1, 1, 16 << 20,
                             "length of the message; above 4 MiB a 4 MiB buffer is used again"},
                            {"count", ParamType::kInt, "1", nullptr, 1, kMost,
                             "ends after so many messages, if that is sooner; null = time alone decides"}};
    for (const auto& more : {time_params(kSeconds, "round trip"), channel_params(/*nodelay=*/true)}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"rtt", "s", "lower", "round-trip time; the value is the median"},
            {"lost", "1", "lower",
             "datagrams that did not come back within eight times the slowest round trip, "
             "at least 20 ms; of local ones, which none loses, within the timeout"}};
  }

  [[nodiscard]] bool supports(const Transport& /*transport*/) const override { return true; }
  [[nodiscard]] std::size_t lanes(const Json& /*params*/) const override { return 1; }

  [[nodiscard]] Outcome measure(ClientRun& run) const override {
    const auto bytes = run.param<std::size_t>("bytes");
    Buffer buffer = Buffer::of(run.params(), bytes);
    const Nanoseconds asked = begin(run);
    const auto exchange = Exchange::over(run.transport(), run.lanes().front(), buffer, bytes, asked,
                                         from_seconds(run.timeout()));
    const auto phase = [&](const Bounds& bounds, Tally& tally) {
      work(run, [&](Lane& /*lane*/) { exchange->run(bounds, tally); });
    };
    if (const auto warmup = run.param<double>("warmup_seconds"); warmup > 0) {
      const auto tally = std::make_unique<Tally>();
      phase({from_seconds(warmup)}, *tally);
    }
    return measured(run, phase);
  }

  void serve(Lane& lane, const Json& params, bool datagrams) const override {
    const auto bytes = params.at("bytes").get<std::size_t>();
    Buffer buffer = Buffer::of(params, bytes);
    echo(lane, buffer, bytes, datagrams);
  }

 private:
  template <typename Phase>
  static Outcome measured(ClientRun& run, const Phase& phase) {
    const auto count = optional_value<std::uint64_t>(run.params(), "count");
    const auto tally = std::make_unique<Tally>();
    const Bounds bounds{from_seconds(run.param<double>("seconds")),
                        count.value_or(std::numeric_limits<std::uint64_t>::max())};
    Outcome outcome = counted(run, [&] { phase(bounds, *tally); });
    outcome.metrics = {{"rtt", rtt_metric(*tally)}, {"lost", {{"unit", "1"}, {"value", tally->lost}}}};
    outcome.seconds = to_seconds(tally->elapsed);
    if (tally->late > 0) {
      outcome.info["late"] = tally->late;
    }
    return outcome;
  }
};

const Registered<Pattern> registered_ping_pong{std::make_unique<PingPong>()};

}  // namespace
}  // namespace wulf::net
