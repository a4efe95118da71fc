#include "core/json/error.hpp"
#include "net/client/timed.hpp"
#include "net/flow/exchange.hpp"

namespace wulf::net {
namespace {

/// The client asks on all channels at once, and every answer comes at once: incast, as when one node reads a
/// stripe from many. One thread asks and reads, since all answers cross the same port.
class Burst final : public ClientTimed {
 public:
  Burst() : ClientTimed("burst", "answers on many channels at once to one client: incast") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kSeconds = 0.2;
    constexpr std::int64_t kSenders = 8;
    constexpr std::int64_t kMostSenders = 128;
    constexpr std::int64_t kBytes = 32 << 10;
    std::vector<Param> list{{"bytes", ParamType::kInt, "B", kBytes, 1, 1 << 20, "length of each answer"},
                            {"senders", ParamType::kInt, "1", kSenders, 1, kMostSenders,
                             "channels that answer at once, each from a thread of its own"}};
    for (const auto& more : {time_params(kSeconds, "burst"), channel_params(/*nodelay=*/true)}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"burst", "s", "lower",
             "from the first request until all answers are there; the value is the median"},
            {"throughput", "B/s", "higher", "bytes of answers over the measured time"}};
  }

  [[nodiscard]] bool supports(const Transport& transport) const override {
    return transport.spec().has_server && !transport.spec().datagrams;
  }
  [[nodiscard]] std::size_t lanes(const Json& params) const override {
    return params.at("senders").get<std::size_t>();
  }

  [[nodiscard]] Outcome measure(ClientRun& run) const override {
    begin(run);
    const auto bytes = run.param<std::size_t>("bytes");
    Buffer buffer = Buffer::of(run.params(), bytes);
    const auto phase = [&](double seconds) {
      auto tally = std::make_unique<Tally>();
      watched(run, [&] { bursts(run.lanes(), buffer, bytes, from_seconds(seconds), *tally); });
      return tally;
    };
    phase(run.param<double>("warmup_seconds"));
    std::unique_ptr<Tally> tally;
    Outcome outcome = counted(run, [&] { tally = phase(run.param<double>("seconds")); });
    outcome.seconds = to_seconds(tally->elapsed);
    const auto moved = static_cast<double>(tally->rtt.count() * bytes * run.lanes().size());
    outcome.metrics = {{"burst", rtt_metric(*tally)},
                       {"throughput", {{"unit", "B/s"}, {"value", moved / outcome.seconds}}}};
    return outcome;
  }

  void serve(Lane& lane, const Json& params, bool /*datagrams*/) const override {
    const auto bytes = params.at("bytes").get<std::size_t>();
    Buffer buffer = Buffer::of(params, bytes);
    std::byte word{};
    while (receive_message(*lane.channel, {&word, 1}, 1) == Io::kDone &&
           send_message(*lane.channel, buffer.next(), bytes) == Io::kDone) {
      lane.count(bytes);
    }
  }

 private:
  /// Runs `body` in the thread of the first lane, which has all lanes' files.
  template <typename Body>
  static void watched(ClientRun& run, const Body& body) {
    Crew crew(
        run.lanes(), run.cpu(),
        [&](const Lane& lane) {
          if (lane.index == 0) {
            body();
          }
        },
        Crew::Files::kAll);
    crew.watch(run.peer(), watch_of(run));
  }

  static void bursts(Lanes& lanes, Buffer& buffer, std::size_t bytes, Nanoseconds span, Tally& tally) {
    const std::byte word{};
    const Nanoseconds start = now();
    Nanoseconds before = start;
    do {
      for (const Lane& lane : lanes) {
        check(lane.channel->send({&word, 1}));
      }
      for (Lane& lane : lanes) {
        check(receive_message(*lane.channel, buffer.next(), bytes));
        lane.count(bytes);
      }
      const Nanoseconds after = now();
      tally.rtt.record(after - before);
      before = after;
    } while (before - start < span);
    tally.elapsed = before - start;
  }

  static void check(Io io) {
    if (io != Io::kDone) {
      throw Error("peer-lost", "a connection closed in the middle of the run");
    }
  }
};

const Registered<Pattern> registered_burst{std::make_unique<Burst>()};

}  // namespace
}  // namespace wulf::net
