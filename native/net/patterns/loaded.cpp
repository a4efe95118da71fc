#include "core/json/error.hpp"
#include "net/client/timed.hpp"
#include "net/flow/exchange.hpp"
#include "net/flow/flow.hpp"

namespace wulf::net {
namespace {

/// Round trips on one channel while others carry streams: what a small message waits behind a large transfer.
class Loaded final : public ClientTimed {
 public:
  Loaded() : ClientTimed("loaded", "round trips while streams run beside them: latency under load") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kSeconds = 0.2;
    constexpr std::int64_t kMostStreams = 64;
    std::vector<Param> list{
        {"bytes", ParamType::kInt, "B", nullptr, 1, 1 << 20,
         "length of the streams' writes or datagrams; null = as for the pattern stream"},
        {"message_bytes", ParamType::kInt, "B", 1, 1, 65507, "length of the message that goes round"},
        {"direction",
         ParamType::kStr,
         "",
         "out",
         nullptr,
         nullptr,
         "where the streams go: out, to the server; back; or both",
         {"out", "back", "both"}}};
    for (const auto& more :
         {flow_params(kMostStreams), time_params(kSeconds, "round trip"), channel_params(/*nodelay=*/true)}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"rtt", "s", "lower", "round-trip time under load; the value is the median"},
            {"rtt_idle", "s", "lower", "the same just before, without load"},
            {"added", "s", "lower", "what the load adds: the difference of the two"},
            {"load", "B/s", "higher", "what the client sent and received beside it"},
            {"lost", "1", "lower", "datagrams of the round trips that did not come back"}};
  }

  [[nodiscard]] bool supports(const Transport& transport) const override {
    return transport.spec().has_server;
  }
  [[nodiscard]] std::size_t lanes(const Json& params) const override { return ways(params).second; }

  [[nodiscard]] Outcome measure(ClientRun& run) const override {
    const auto bytes = run.param<std::size_t>("message_bytes");
    Buffer buffer = Buffer::of(run.params(), bytes);
    const Nanoseconds asked = begin(run);
    const auto exchange = Exchange::over(run.transport(), run.lanes().front(), buffer, bytes, asked,
                                         from_seconds(run.timeout()));
    const Bounds bounds{from_seconds(run.param<double>("seconds"))};
    const auto idle = std::make_unique<Tally>();
    only_first(run, [&] { exchange->run(bounds, *idle); });
    const auto loaded = std::make_unique<Tally>();
    double load = 0;
    Outcome outcome = counted(run, [&] { load = under_load(run, *exchange, bounds, *loaded); });
    outcome.seconds = to_seconds(loaded->elapsed);
    outcome.metrics = {{"rtt", rtt_metric(*loaded)},
                       {"rtt_idle", rtt_metric(*idle)},
                       {"added", added_metric(*idle, *loaded)},
                       {"load", {{"unit", "B/s"}, {"value", load}}},
                       {"lost", {{"unit", "1"}, {"value", loaded->lost}}}};
    return outcome;
  }

  void serve(Lane& lane, const Json& params, bool datagrams) const override {
    if (lane.index == 0) {
      const auto bytes = params.at("message_bytes").get<std::size_t>();
      Buffer buffer = Buffer::of(params, bytes);
      echo(lane, buffer, bytes, datagrams);
    } else if (lane.index < ways(params).first) {
      receive_flow(lane, params, datagrams);
    } else {
      await_start(lane, datagrams);
      const std::atomic<bool> never{false};  // the channel's end is the end
      Outflow(params, datagrams).send(lane, never);
    }
  }

 private:
  /// The numbers of the first lane that goes back, and of the one after the last; the first of all goes
  /// round.
  static std::pair<std::size_t, std::size_t> ways(const Json& params) {
    const auto streams = params.at("streams").get<std::size_t>();
    const auto direction = params.at("direction").get<std::string>();
    const std::size_t back = 1 + (direction == "back" ? 0 : streams);
    return {back, direction == "out" ? back : back + streams};
  }

  /// The server sends nothing before the client asks for it: until then the path has to be idle.
  static void await_start(Lane& lane, bool datagrams) noexcept {
    std::byte word{};
    std::size_t got = 0;
    while (lane.channel->receive({&word, 1}, got) == Io::kNudged && datagrams) {
    }
  }

  template <typename Body>
  static void only_first(ClientRun& run, const Body& body) {
    work(run, [&](const Lane& lane) {
      if (lane.index == 0) {
        body();
      }
    });
  }

  /// Streams run through warm-up and measured time, then end. Returns the load in bytes a second.
  static double under_load(ClientRun& run, Exchange& exchange, const Bounds& bounds, Tally& tally) {
    Outflow outflow(run.params(), run.transport().spec().datagrams);
    std::atomic<bool> stop{false};
    double load = 0;
    Crew crew(run.lanes(), run.cpu(), [&](Lane& lane) {
      if (lane.index == 0) {
        const Ending ending(stop);
        load = measure_beside(run, exchange, bounds, tally);
      } else {
        carry(run, lane, outflow, stop);
      }
    });
    crew.watch(run.peer(), watch_of(run, &stop));
    // Not by the thread of the first lane, which has no files but its own.
    for (const Lane& lane : run.lanes()) {
      if (lane.index != 0) {
        lane.channel->discard();
      }
    }
    crew.watch(run.peer(), watch_of(run));
    return load;
  }

  /// Sets the flag when it ends, however that comes.
  class Ending {
   public:
    explicit Ending(std::atomic<bool>& flag) : flag_(flag) {}
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    Ending(Ending&&) = delete;
    Ending& operator=(Ending&&) = delete;
    ~Ending() { flag_.store(true); }

   private:
    std::atomic<bool>& flag_;
  };

  /// The client's side of one stream.
  static void carry(const ClientRun& run, Lane& lane, Outflow& outflow, const std::atomic<bool>& stop) {
    if (lane.index < ways(run.params()).first) {
      outflow.send(lane, stop);
    } else {
      const std::byte word{};
      lane.channel->send({&word, 1});
      receive_flow(lane, run.params(), run.transport().spec().datagrams);
    }
    if (!stop.load()) {
      throw Error("peer-lost", "a stream's connection closed in the middle of the run");
    }
  }

  static double measure_beside(ClientRun& run, Exchange& exchange, const Bounds& bounds, Tally& tally) {
    const Range streams{1, run.lanes().size()};
    const auto warmup = std::make_unique<Tally>();
    exchange.run({from_seconds(run.param<double>("warmup_seconds"))}, *warmup);
    const Passed before = Passed::by_now(run.lanes(), streams);
    exchange.run(bounds, tally);
    return Passed::by_now(run.lanes(), streams).rate_since(before);
  }

  static Json added_metric(const Tally& idle, const Tally& loaded) {
    if (idle.rtt.count() == 0 || loaded.rtt.count() == 0) {
      return {{"unit", "s"}, {"value", nullptr}, {"reason", "no round trip with load, or none without"}};
    }
    constexpr double kNano = 1e-9;
    return {{"unit", "s"}, {"value", (loaded.rtt.quantile(0.5) - idle.rtt.quantile(0.5)) * kNano}};
  }
};

const Registered<Pattern> registered_loaded{std::make_unique<Loaded>()};

}  // namespace
}  // namespace wulf::net
