#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "core/host/counters.hpp"
#include "core/json/error.hpp"
#include "net/client/run.hpp"
#include "net/client/throughput.hpp"
#include "net/flow/exchange.hpp"
#include "net/flow/flow.hpp"
#include "net/run/during.hpp"
#include "net/server/run.hpp"

namespace wulf::net {
namespace {

constexpr std::int64_t kMostStreams = 128;

/// One way or both, as fast as it goes or at a rate, over parallel channels. The receiver's figure counts:
/// all its streams' bytes over one window of its own clock, while all senders send before, during and after
/// it.
class Stream final : public Pattern {
 public:
  Stream() : Pattern("stream", "one way or both over parallel channels: the throughput") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kShortest = 0.001;
    constexpr double kLongest = 3600;
    std::vector<Param> list{
        {"bytes", ParamType::kInt, "B", nullptr, 1, 16 << 20,
         "length of a write, or of a datagram; above 4 MiB in writes of 4 MiB; null = 131072 for tcp, 1472 "
         "for udp"},
        {"seconds", ParamType::kFloat, "s", 0.2, kShortest, kLongest, "measured time, at the receiver"},
        {"warmup_seconds", ParamType::kFloat, "s", 0.1, 0, kLongest,
         "time before that, from the first byte on every stream (slow start, growing buffers)"},
        {"cooldown_seconds", ParamType::kFloat, "s", 0, 0, kLongest,
         "how long the senders go on after the measured time, so that runs beside this one keep their "
         "company"},
        {"direction",
         ParamType::kStr,
         "",
         "out",
         nullptr,
         nullptr,
         "out: from the client to the server; back: the other way; both: at once, over channels of their own",
         {"out", "back", "both"}}};
    for (const auto& more : {flow_params(kMostStreams), channel_params(/*nodelay=*/false)}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"throughput", "B/s", "higher",
             "the receiver's bytes over the receiver's time, all streams and both ways together"},
            {"out", "B/s", "higher", "both ways: what the server received"},
            {"back", "B/s", "higher", "both ways: what the client received"},
            {"sent", "B/s", "higher", "the client's bytes over the client's time, as handed to the system"},
            {"loss", "1", "lower",
             "datagrams: the share of all that were sent, warm-up included, that did not arrive"},
            {"reordered", "1", "lower", "datagrams that arrived after a later one, of 8 B or more"},
            {"duplicates", "1", "lower", "datagrams that arrived more than once, of 8 B or more"},
            {"gap", "s", "lower", "with a rate: time between two calls of a sender; the value is the median"},
            {"retransmits", "1", "lower", "TCP: segments sent again in the measured time"}};
  }

  [[nodiscard]] bool supports(const Transport& transport) const override {
    return transport.spec().has_server;
  }
  [[nodiscard]] std::size_t lanes(const Json& params) const override { return Ways(params).back.last; }

  [[nodiscard]] Outcome measure(ClientRun& run) const override;
  void attend(ServerRun& run) const override;
  void serve(Lane& lane, const Json& params, bool datagrams) const override;
};

/// The client's threads, told to stop when this ends, however that comes.
class Flows {
 public:
  explicit Flows(ClientRun& run)
      : run_(run),
        ways_(run.params()),
        outflow_(run.params(), run.transport().spec().datagrams),
        crew_(run.lanes(), run.cpu(), [this](Lane& lane) { work(lane); }) {}
  Flows(const Flows&) = delete;
  Flows& operator=(const Flows&) = delete;
  Flows(Flows&&) = delete;
  Flows& operator=(Flows&&) = delete;
  ~Flows() { stop_.store(true, std::memory_order_relaxed); }

  /// Lets datagrams in progress go, drops what a byte stream still holds, and waits for the threads.
  void stop() {
    stop_.store(true, std::memory_order_relaxed);
    for (const Lane& lane : run_.lanes()) {
      if (!run_.transport().spec().datagrams) {
        lane.channel->discard();
      } else if (!ways_.goes_out(lane)) {
        lane.channel->interrupt();
      }
    }
    crew_.watch(run_.peer(), {.until = now() + from_seconds(run_.timeout()), .patience = run_.timeout()});
  }

  [[nodiscard]] const Histogram& gaps() const { return outflow_.gaps(); }
  Crew& crew() { return crew_; }

 private:
  void work(Lane& lane) {
    const bool datagrams = run_.transport().spec().datagrams;
    if (ways_.goes_out(lane)) {
      outflow_.send(lane, stop_);
    } else {
      receive_flow(lane, run_.params(), datagrams);
    }
    if (!stop_.load(std::memory_order_relaxed)) {
      throw Error("peer-lost", "the connection closed in the middle of the run");
    }
  }

  ClientRun& run_;
  Ways ways_;
  Outflow outflow_;
  std::atomic<bool> stop_{false};
  Crew crew_;
};

/// How long a byte stream may stand still: a slow rate has pauses of its own.
double patience_of(const Json& params) {
  const auto rate = optional_value<double>(params, "rate");
  const double between =
      rate ? params.at("bytes").get<double>() * params.at("streams").get<double>() / *rate : 0;
  return params.at("timeout").get<double>() + between;
}

/// Watches over the senders until the server has finished. Throws `timeout` when the other side gives no sign
/// of life: with a byte stream, its acknowledgements; over datagrams, which tell nothing, its word that it is
/// alive.
class Vigil {
 public:
  Vigil(ClientRun& run, Crew& crew)
      : run_(run), crew_(crew), datagrams_(run.transport().spec().datagrams), heard_(now()) {}

  /// The server's figures, or null when it has not finished by `end`.
  Json until(Nanoseconds end) {
    const Nanoseconds silence = from_seconds(run_.timeout());
    const double patience = datagrams_ ? std::numeric_limits<double>::infinity() : patience_of(run_.params());
    while (now() < end && !crew_.ended()) {
      const Nanoseconds next = datagrams_ ? std::min(end, heard_ + silence) : end;
      if (auto message = crew_.watch(run_.peer(), {.until = next, .patience = patience})) {
        if (!ServerPeer::is_sign_of_life(*message)) {
          return std::move(*message);
        }
        heard_ = now();
      } else if (datagrams_ && now() >= heard_ + silence) {
        throw Error("timeout", "the server gave no sign of life for " + Json(run_.timeout()).dump() +
                                   " s: is it, or the path to it, down?");
      }
    }
    return nullptr;
  }

 private:
  ClientRun& run_;
  Crew& crew_;
  bool datagrams_;
  Nanoseconds heard_;
};

/// Waits out warm-up and measured time; the server says when it is over.
Window watch_window(ClientRun& run, Crew& crew) {
  constexpr double kGrace = 0.5;
  const Ways ways(run.params());
  Window window;
  Vigil vigil(run, crew);
  window.finished = vigil.until(now() + from_seconds(run.param<double>("warmup_seconds")));
  During during(run.lanes());
  const CounterTexts before = CounterTexts::read();
  window.first = Sent::by_now(run.lanes(), ways);
  if (window.finished.is_null()) {
    // The senders' time is bounded even if the server's word never comes.
    window.finished =
        vigil.until(now() + from_seconds(run.param<double>("seconds") + run.timeout() + kGrace));
  }
  window.last = Sent::by_now(run.lanes(), ways);
  const CounterTexts after = CounterTexts::read();
  window.during = during.end();
  window.counters = before.delta(after);
  if (window.finished.is_null()) {
    throw Error("timeout", "the server did not finish in time, though its connection is open");
  }
  return window;
}

/// Goes on sending after the measured time, for runs beside this one that still measure.
void cool_down(ClientRun& run, Crew& crew) {
  const bool datagrams = run.transport().spec().datagrams;
  crew.watch(run.peer(),
             {.until = now() + from_seconds(run.param<double>("cooldown_seconds")),
              .patience = datagrams ? std::numeric_limits<double>::infinity() : patience_of(run.params())});
}

Outcome Stream::measure(ClientRun& run) const {
  (void)run.peer().ask({{"op", "begin"}});
  Flows flows(run);
  Window window = watch_window(run, flows.crew());
  cool_down(run, flows.crew());
  flows.stop();
  const bool datagrams = run.transport().spec().datagrams;
  const std::uint64_t sent = Passed::by_now(run.lanes(), Ways(run.params()).out).messages;
  const Json total = run.peer().ask({{"op", "total"}, {"datagrams", datagrams ? Json(sent) : Json(nullptr)}});
  Outcome outcome = throughput_of(run, std::move(window));
  if (datagrams) {
    add_datagram_metrics(outcome.metrics, run, total);
  }
  if (flows.gaps().count() > 0) {
    outcome.metrics["gap"] = times_metric(flows.gaps(), "");
  }
  return outcome;
}

/// Throws `timeout` unless every stream has brought something.
void await_first_bytes(ServerRun& run) {
  const auto flows = [](const Lane& lane) { return lane.bytes.load(std::memory_order_relaxed) > 0; };
  const Range out = Ways(run.params()).out;
  const auto last = run.lanes().begin() + static_cast<std::ptrdiff_t>(out.last);
  const auto all_flow = [&] { return std::all_of(run.lanes().begin(), last, flows); };
  run.pause(now() + from_seconds(run.timeout()), all_flow);
  if (!all_flow()) {
    const auto flowing = std::count_if(run.lanes().begin(), last, flows);
    throw Error("timeout", "data arrived on " + std::to_string(flowing) + " of " + std::to_string(out.last) +
                               " streams only: does the path carry messages of this size?");
  }
}

/// The receiver's window: `seconds` by this host's clock.
Json measure_window(ServerRun& run) {
  const Ways ways(run.params());
  During during(run.lanes());
  const CounterTexts before = CounterTexts::read();
  const auto repeated = retransmits_of(run.lanes(), ways.back);
  const std::vector<std::uint64_t> first_bytes = bytes_by_lane(run.lanes(), ways.out);
  const Nanoseconds first = now();
  run.pause(first + from_seconds(run.params().at("seconds").get<double>()), {}, patience_of(run.params()));
  const std::vector<std::uint64_t> last_bytes = bytes_by_lane(run.lanes(), ways.out);
  const double seconds = to_seconds(now() - first);
  const CounterTexts after = CounterTexts::read();
  Json seen = during.end();
  const auto repeated_after = retransmits_of(run.lanes(), ways.back);
  return {{"op", "finished"},
          {"streams", rates(first_bytes, last_bytes, seconds)},
          {"seconds", seconds},
          {"retransmits", repeated && repeated_after ? Json(*repeated_after - *repeated) : Json(nullptr)},
          {"counters", before.delta(after)},
          {"during", std::move(seen)},
          {"info", run.lanes().front().channel->info()}};
}

/// Waits until all datagrams have arrived, or the network has been quiet for a while.
void await_quiet(ServerRun& run, std::uint64_t sent) {
  constexpr Nanoseconds kQuiet = 50 * kMillisecond;
  const Range out = Ways(run.params()).out;
  const auto arrived = [&] { return Passed::by_now(run.lanes(), out).messages; };
  std::uint64_t before = 0;
  do {
    before = arrived();
    run.pause(now() + kQuiet, [&] { return arrived() >= sent; });
  } while (arrived() > before && before < sent);
}

void Stream::attend(ServerRun& run) const {
  (void)run.await("begin");
  run.await_lanes();
  run.answer({{"op", "begun"}});
  await_first_bytes(run);
  run.pause(now() + from_seconds(run.params().at("warmup_seconds").get<double>()), {},
            patience_of(run.params()));
  run.answer(measure_window(run));
  const Json total = run.await("total");
  if (const auto sent = optional_value<std::uint64_t>(total, "datagrams")) {
    await_quiet(run, *sent);
  }
  const Received received = Received::by_now(run.lanes(), Ways(run.params()).out);
  run.answer({{"op", "total"},
              {"datagrams", received.messages},
              {"reordered", received.reordered},
              {"duplicates", received.duplicates}});
}

void Stream::serve(Lane& lane, const Json& params, bool datagrams) const {
  if (Ways(params).goes_out(lane)) {
    receive_flow(lane, params, datagrams);
    return;
  }
  const std::atomic<bool> never{false};  // the channel's end is the end
  Outflow(params, datagrams).send(lane, never);
}

const Registered<Pattern> registered_stream{std::make_unique<Stream>()};

}  // namespace
}  // namespace wulf::net
