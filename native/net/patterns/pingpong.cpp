#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "core/counters.hpp"
#include "core/error.hpp"
#include "core/histogram.hpp"
#include "net/buffer.hpp"
#include "net/client_run.hpp"
#include "net/server_run.hpp"

namespace wulf::net {
namespace {

/// When a phase of round trips ends: whichever comes first.
struct Bounds {
  Nanoseconds span;
  std::uint64_t count;
};

/// What a phase of round trips gave.
struct Tally {
  Histogram rtt;
  std::uint64_t lost = 0;
  std::uint64_t late = 0;  ///< echoes that came after they had been given up
  Nanoseconds elapsed = 0;
};

/// One side's loop over a byte stream: send, receive, one reading of the clock. Each reading ends one round
/// trip and begins the next, so that no time falls between them.
void exchange_stream(Lane& lane, const Buffer& buffer, std::size_t bytes, const Bounds& bounds,
                     Tally& tally) {
  Channel& channel = *lane.channel;
  const Nanoseconds start = now();
  Nanoseconds before = start;
  while (true) {
    if (send_message(channel, buffer.span(), bytes) != Io::kDone ||
        receive_message(channel, buffer.span(), bytes) != Io::kDone) {
      throw Error("peer-lost", "the connection closed in the middle of the run");
    }
    const Nanoseconds after = now();
    tally.rtt.record(after - before);
    lane.count(bytes);
    if (after - start >= bounds.span || tally.rtt.count() == bounds.count) {
      tally.elapsed = after - start;
      return;
    }
    before = after;
  }
}

/// The same over datagrams, which may be lost. A number in the first bytes tells an echo from one that comes
/// late: with messages shorter than eight bytes it wraps early, which is harmless, since echoes are late by
/// few numbers.
class DatagramExchange {
 public:
  /// `patience`: how long the first echo may take; `most`: how long any may take.
  DatagramExchange(Lane& lane, const Buffer& buffer, std::size_t bytes, Nanoseconds patience,
                   Nanoseconds most)
      : lane_(lane),
        channel_(*lane.channel),
        message_(buffer.span().first(bytes)),
        patience_(patience),
        most_(most) {}

  void run(const Bounds& bounds, Tally& tally) {
    const Nanoseconds start = now();
    Nanoseconds answered = start;
    Nanoseconds before = start;
    while (true) {
      const bool echoed = round_trip(before, tally);
      const Nanoseconds after = now();
      if (echoed) {
        tally.rtt.record(after - before);
        lane_.count(message_.size());
        answered = after;
        learn(after - before);
      } else {
        ++tally.lost;
      }
      const bool enough = tally.rtt.count() + tally.lost == bounds.count;
      if (after - start >= bounds.span || enough || after - answered >= most_) {
        tally.elapsed = after - start;
        return;
      }
      before = after;
    }
  }

 private:
  static constexpr Nanoseconds kLeastPatience = 20 * kMillisecond;

  /// False when no echo came in time.
  bool round_trip(Nanoseconds sent_at, Tally& tally) {
    ++number_;
    std::memcpy(message_.data(), &number_, std::min(sizeof(number_), message_.size()));
    Io io = channel_.send(message_);
    while (io != Io::kClosed) {
      std::size_t got = 0;
      if (io == Io::kDone) {
        io = channel_.receive(message_, got);
      }
      if (io == Io::kNudged) {
        if (now() - sent_at >= patience_) {
          return false;
        }
        io = Io::kDone;
      } else if (io == Io::kDone) {
        if (got == message_.size() && is_current()) {
          return true;
        }
        ++tally.late;
      }
    }
    throw Error("peer-lost", "the server's socket is gone: its process has ended or was stopped");
  }

  [[nodiscard]] bool is_current() const {
    return std::memcmp(message_.data(), &number_, std::min(sizeof(number_), message_.size())) == 0;
  }

  /// An echo is given up after eight times the slowest round trip so far, and never before 20 ms.
  void learn(Nanoseconds rtt) {
    if (rtt > slowest_) {
      constexpr Nanoseconds kSlack = 8;
      slowest_ = rtt;
      patience_ = std::clamp(kSlack * slowest_, std::min(kLeastPatience, most_), most_);
    }
  }

  Lane& lane_;
  Channel& channel_;
  std::span<std::byte> message_;
  Nanoseconds patience_;
  Nanoseconds most_;
  Nanoseconds slowest_ = 0;
  std::uint64_t number_ = 0;
};

constexpr auto kQuantiles = std::to_array<std::pair<const char*, double>>({{"0.25", 0.25},
                                                                           {"0.5", 0.5},
                                                                           {"0.75", 0.75},
                                                                           {"0.9", 0.9},
                                                                           {"0.99", 0.99},
                                                                           {"0.999", 0.999},
                                                                           {"0.9999", 0.9999},
                                                                           {"0.99999", 0.99999}});

/// Quantiles farther out are told only where a sample lies beyond them: else they would be the maximum.
constexpr double kAlways = 0.999;

Json rtt_metric(const Tally& tally) {
  if (tally.rtt.count() == 0) {
    return {{"unit", "s"},
            {"value", nullptr},
            {"reason", "all " + std::to_string(tally.lost) + " datagrams were lost: none came back in time"}};
  }
  constexpr double kNano = 1e-9;
  const Histogram& rtt = tally.rtt;
  Json quantiles = Json::object();
  for (const auto& [name, q] : kQuantiles) {
    if (q <= kAlways || static_cast<double>(rtt.count()) * (1 - q) >= 1) {
      quantiles[name] = rtt.quantile(q) * kNano;
    }
  }
  return {{"unit", "s"},
          {"value", quantiles["0.5"]},
          {"n", rtt.count()},
          {"mean", rtt.mean() * kNano},
          {"deviation", rtt.deviation() * kNano},
          {"min", static_cast<double>(rtt.least()) * kNano},
          {"max", static_cast<double>(rtt.greatest()) * kNano},
          {"quantiles", quantiles}};
}

/// One message there and back at a time.
class PingPong final : public Pattern {
 public:
  PingPong() : Pattern("pingpong", "one message to the server and back at a time: the round trip") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kLongest = 3600;
    constexpr std::int64_t kMost = 1'000'000'000;
    std::vector<Param> list{{"bytes", ParamType::kInt, "B", 1, 1, 16 << 20,
                             "length of the message; above 4 MiB a 4 MiB buffer is used again"},
                            {"seconds", ParamType::kFloat, "s", 0.1, 0, kLongest,
                             "measured time; at least one round trip is made"},
                            {"count", ParamType::kInt, "1", nullptr, 1, kMost,
                             "ends after so many messages, if that is sooner; null = time alone decides"},
                            {"warmup_seconds", ParamType::kFloat, "s", 0.01, 0, kLongest,
                             "round trips before the measured ones"}};
    for (Param& param : socket_params(/*nodelay=*/true)) {
      list.push_back(std::move(param));
    }
    return list;
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"rtt", "s", "lower", "round-trip time; the value is the median"},
            {"lost", "1", "lower",
             "datagrams that did not come back within eight times the slowest round trip, "
             "at least 20 ms"}};
  }

  [[nodiscard]] bool supports(const Transport& /*transport*/) const override { return true; }
  [[nodiscard]] std::size_t lanes(const Json& /*params*/) const override { return 1; }

  [[nodiscard]] Outcome measure(ClientRun& run) const override {
    constexpr Nanoseconds kSlack = 8;
    const auto bytes = run.param<std::size_t>("bytes");
    const Buffer buffer(std::min(bytes, kLargestBuffer));
    const Nanoseconds asked_at = now();
    (void)run.peer().ask({{"op", "begin"}});
    const Nanoseconds most = from_seconds(run.timeout());
    DatagramExchange datagrams(run.lanes().front(), buffer, std::min(bytes, buffer.span().size()),
                               std::min(most, std::max(kSlack * (now() - asked_at), kFirstPatience)), most);
    const auto phase = [&](const Bounds& bounds, Tally& tally) {
      run_phase(run, [&](Lane& lane) {
        if (run.transport().spec().datagrams) {
          datagrams.run(bounds, tally);
        } else {
          exchange_stream(lane, buffer, bytes, bounds, tally);
        }
      });
    };
    if (const auto warmup = run.param<double>("warmup_seconds"); warmup > 0) {
      const auto tally = std::make_unique<Tally>();
      phase({from_seconds(warmup), std::numeric_limits<std::uint64_t>::max()}, *tally);
    }
    return measured(run, phase);
  }

  void attend(ServerRun& run) const override {
    (void)run.await("begin");
    run.await_lanes();
    run.answer({{"op", "begun"}});
    (void)run.await("start");
    const CounterTexts before = CounterTexts::read();
    run.answer({{"op", "started"}});
    (void)run.await("finish");
    const CounterTexts after = CounterTexts::read();
    run.answer({{"op", "finished"},
                {"counters", counters_delta(before.parse(), after.parse())},
                {"info", run.lanes().front().channel->info()}});
  }

  void serve(Lane& lane, const Json& params) const override {
    Channel& channel = *lane.channel;
    const auto bytes = params.at("bytes").get<std::size_t>();
    const Buffer buffer(std::min(bytes, kLargestBuffer));
    while (receive_message(channel, buffer.span(), bytes) == Io::kDone &&
           send_message(channel, buffer.span(), bytes) == Io::kDone) {
      lane.count(bytes);
    }
  }

 private:
  static constexpr Nanoseconds kFirstPatience = 200 * kMillisecond;

  template <typename Body>
  static void run_phase(ClientRun& run, const Body& body) {
    Crew crew(run.lanes(), run.cpu(), body);
    const bool datagrams = run.transport().spec().datagrams;  // their loop watches the time by itself
    crew.watch(run.peer(), {.until = std::numeric_limits<Nanoseconds>::max(),
                            .patience = datagrams ? std::numeric_limits<double>::infinity() : run.timeout(),
                            .nudge = datagrams});
  }

  template <typename Phase>
  static Outcome measured(ClientRun& run, const Phase& phase) {
    const auto count = optional_value<std::uint64_t>(run.params(), "count");
    const auto tally = std::make_unique<Tally>();
    (void)run.peer().ask({{"op", "start"}});
    const CounterTexts before = CounterTexts::read();
    phase({from_seconds(run.param<double>("seconds")),
           count.value_or(std::numeric_limits<std::uint64_t>::max())},
          *tally);
    const CounterTexts after = CounterTexts::read();
    Json finished = run.peer().ask({{"op", "finish"}});
    Outcome outcome;
    outcome.metrics = {{"rtt", rtt_metric(*tally)}, {"lost", {{"unit", "1"}, {"value", tally->lost}}}};
    outcome.seconds = to_seconds(tally->elapsed);
    outcome.client_counters = counters_delta(before.parse(), after.parse());
    outcome.server_counters = finished.value("counters", Json(nullptr));
    outcome.info = run.lanes().front().channel->info();
    if (finished.contains("info")) {
      outcome.info["server"] = finished["info"];
    }
    if (tally->late > 0) {
      outcome.info["late"] = tally->late;
    }
    return outcome;
  }
};

const Registered<Pattern> registered{std::make_unique<PingPong>()};

}  // namespace
}  // namespace wulf::net
