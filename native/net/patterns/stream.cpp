#include <sys/prctl.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "core/counters.hpp"
#include "core/error.hpp"
#include "net/buffer.hpp"
#include "net/client_run.hpp"
#include "net/pacer.hpp"
#include "net/server_run.hpp"

namespace wulf::net {
namespace {

constexpr std::int64_t kMostStreams = 128;

/// A reader is woken once for so much, the default write of TCP: what has arrived meanwhile is counted by the
/// kernel.
constexpr std::size_t kMostGathered = 128 << 10;

/// The longest read of a receiver that does not gather.
constexpr std::size_t kMostPiece = 1 << 20;

/// A sender's side at one time: what was handed to the system, and what TCP had to repeat.
struct Sent {
  Passed passed;
  std::optional<std::uint64_t> retransmits;

  static Sent by_now(const Lanes& lanes) {
    Sent sent{Passed::by_now(lanes), std::nullopt};
    for (const Lane& lane : lanes) {
      if (const auto repeated = lane.channel->retransmits()) {
        sent.retransmits = sent.retransmits.value_or(0) + *repeated;
      }
    }
    return sent;
  }
};

/// The buffer of a receiver: 4 MiB among all streams, so that many of them stay below the memory limit.
std::size_t receive_size(const Json& params) {
  constexpr std::size_t kLeast = 32 << 10;
  constexpr std::size_t kMost = 256 << 10;
  return std::clamp(kLargestBuffer / params.at("streams").get<std::size_t>(), kLeast, kMost);
}

/// One way, as fast as it goes or at a rate, over parallel channels. The receiver's figure counts: all its
/// streams' bytes over one window of its own clock, while all senders send before, during and after it.
class Stream final : public Pattern {
 public:
  Stream() : Pattern("stream", "from the client to the server over parallel channels: the throughput") {}

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
        {"streams", ParamType::kInt, "1", 1, 1, kMostStreams,
         "parallel channels, each with a thread at both ends"},
        {"rate", ParamType::kFloat, "B/s", nullptr, 1, nullptr,
         "the senders' rate, all streams together; null = as fast as it goes"},
        {"gather", ParamType::kBool, "", true, nullptr, nullptr,
         "the receiver is woken once for a write's length, and reads as much as has come; false: it reads "
         "at most a write's length, as soon as there is anything"}};
    for (Param& param : socket_params(/*nodelay=*/false)) {
      list.push_back(std::move(param));
    }
    return list;
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"throughput", "B/s", "higher",
             "the receiver's bytes over the receiver's time, all streams together"},
            {"sent", "B/s", "higher", "the senders' bytes over the senders' time, as handed to the system"},
            {"loss", "1", "lower",
             "datagrams: the share of all that were sent, warm-up included, that did not arrive"},
            {"retransmits", "1", "lower", "TCP: segments sent again in the measured time"}};
  }

  [[nodiscard]] bool supports(const Transport& transport) const override {
    return transport.spec().has_server;
  }
  [[nodiscard]] std::size_t lanes(const Json& params) const override {
    return params.at("streams").get<std::size_t>();
  }

  [[nodiscard]] Outcome measure(ClientRun& run) const override;
  void attend(ServerRun& run) const override;
  void serve(Lane& lane, const Json& params) const override;
};

/// The senders of one run, told to stop when this ends, however that comes.
class Senders {
 public:
  Senders(ClientRun& run, const Buffer& buffer)
      : params_(run.params()),
        buffer_(buffer),
        crew_(run.lanes(), run.cpu(), [this](Lane& lane) { send(lane); }) {}
  Senders(const Senders&) = delete;
  Senders& operator=(const Senders&) = delete;
  Senders(Senders&&) = delete;
  Senders& operator=(Senders&&) = delete;
  ~Senders() { stop(); }

  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  Crew& crew() { return crew_; }

 private:
  [[nodiscard]] bool stopped() const noexcept { return stop_.load(std::memory_order_relaxed); }

  void send(Lane& lane) {
    const auto bytes = params_.at("bytes").get<std::size_t>();
    const auto rate = optional_value<double>(params_, "rate");
    std::optional<Pacer> pacer;
    if (rate) {
      prctl(PR_SET_TIMERSLACK, 1UL);  // the pacer's sleeps are not to be rounded up by 50 µs
      pacer.emplace(*rate / params_.at("streams").get<double>());
    }
    while (!stopped()) {
      if (pacer && !pacer->wait(bytes, stop_)) {
        return;
      }
      if (send_message(*lane.channel, buffer_.span(), bytes) != Io::kDone) {
        if (stopped()) {
          return;
        }
        throw Error("peer-lost", "the connection closed in the middle of the run");
      }
      lane.count(bytes);
    }
  }

  const Json& params_;
  const Buffer& buffer_;
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

/// The client's view of the measured time.
struct Window {
  Sent first;
  Sent last;
  Json counters = Json::object();
  Json finished = nullptr;  ///< the server's figures
};

/// Waits out warm-up and measured time; the server says when it is over.
Window watch_window(ClientRun& run, Crew& crew) {
  constexpr double kGrace = 0.5;
  Window window;
  Vigil vigil(run, crew);
  window.finished = vigil.until(now() + from_seconds(run.param<double>("warmup_seconds")));
  const CounterTexts before = CounterTexts::read();
  window.first = Sent::by_now(run.lanes());
  if (window.finished.is_null()) {
    // The senders' time is bounded even if the server's word never comes.
    window.finished =
        vigil.until(now() + from_seconds(run.param<double>("seconds") + run.timeout() + kGrace));
  }
  window.last = Sent::by_now(run.lanes());
  window.counters = counters_delta(before.parse(), CounterTexts::read().parse());
  if (window.finished.is_null()) {
    throw Error("timeout", "the server did not finish in time, though its connection is open");
  }
  return window;
}

/// Stops the senders: lets datagrams in progress go, drops what a byte stream still holds.
void stop_senders(ClientRun& run, Senders& senders) {
  senders.stop();
  if (!run.transport().spec().datagrams) {
    for (Lane& lane : run.lanes()) {
      lane.channel->discard();
    }
  }
  senders.crew().watch(run.peer(), {.until = now() + from_seconds(run.timeout()), .patience = run.timeout()});
}

Json throughput_metric(const Json& finished) {
  const Json& throughput = finished.at("throughput");
  if (throughput == 0) {
    return {{"unit", "B/s"}, {"value", nullptr}, {"reason", "nothing arrived in the measured time"}};
  }
  return {{"unit", "B/s"}, {"value", throughput}};
}

/// The share of datagrams that never arrived.
Json loss_metric(std::uint64_t sent, std::uint64_t received) {
  const double share =
      1 - (static_cast<double>(received) / static_cast<double>(std::max<std::uint64_t>(sent, 1)));
  return {{"unit", "1"}, {"value", std::max(share, 0.0)}, {"sent", sent}, {"received", received}};
}

Outcome outcome_of(ClientRun& run, Window window) {
  Outcome outcome;
  outcome.metrics = {
      {"throughput", throughput_metric(window.finished)},
      {"sent", {{"unit", "B/s"}, {"value", window.last.passed.rate_since(window.first.passed)}}}};
  if (window.first.retransmits && window.last.retransmits) {
    outcome.metrics["retransmits"] = {{"unit", "1"},
                                      {"value", *window.last.retransmits - *window.first.retransmits}};
  }
  outcome.seconds = window.finished.at("seconds").get<double>();
  outcome.client_counters = std::move(window.counters);
  outcome.server_counters = window.finished.at("counters");
  outcome.info = run.lanes().front().channel->info();
  outcome.info["server"] = window.finished.at("info");
  outcome.info["streams"] = window.finished.at("streams");
  return outcome;
}

Outcome Stream::measure(ClientRun& run) const {
  const Buffer buffer(std::min(run.param<std::size_t>("bytes"), kLargestBuffer));
  (void)run.peer().ask({{"op", "begin"}});
  Senders senders(run, buffer);
  Window window = watch_window(run, senders.crew());
  stop_senders(run, senders);
  const bool datagrams = run.transport().spec().datagrams;
  const std::uint64_t sent = Passed::by_now(run.lanes()).messages;
  const Json total = run.peer().ask({{"op", "total"}, {"datagrams", datagrams ? Json(sent) : Json(nullptr)}});
  Outcome outcome = outcome_of(run, std::move(window));
  if (datagrams) {
    outcome.metrics["loss"] = loss_metric(sent, total.at("datagrams").get<std::uint64_t>());
  }
  return outcome;
}

/// Throws `timeout` unless every stream has brought something.
void await_first_bytes(ServerRun& run) {
  const auto flows = [](const Lane& lane) { return lane.bytes.load(std::memory_order_relaxed) > 0; };
  const auto all_flow = [&] { return std::all_of(run.lanes().begin(), run.lanes().end(), flows); };
  run.pause(now() + from_seconds(run.timeout()), all_flow);
  if (!all_flow()) {
    const auto flowing = std::count_if(run.lanes().begin(), run.lanes().end(), flows);
    throw Error("timeout", "data arrived on " + std::to_string(flowing) + " of " +
                               std::to_string(run.lanes().size()) +
                               " streams only: does the path carry messages of this size?");
  }
}

std::vector<std::uint64_t> bytes_by_lane(const Lanes& lanes) {
  std::vector<std::uint64_t> bytes;
  for (const Lane& lane : lanes) {
    bytes.push_back(lane.channel->arrived().value_or(lane.bytes.load(std::memory_order_relaxed)));
  }
  return bytes;
}

/// The receiver's window: `seconds` by this host's clock.
Json measure_window(ServerRun& run) {
  const CounterTexts before = CounterTexts::read();
  const std::vector<std::uint64_t> first_bytes = bytes_by_lane(run.lanes());
  const Nanoseconds first = now();
  run.pause(first + from_seconds(run.params().at("seconds").get<double>()));
  const std::vector<std::uint64_t> last_bytes = bytes_by_lane(run.lanes());
  const double seconds = to_seconds(now() - first);
  const CounterTexts after = CounterTexts::read();
  double throughput = 0;
  Json streams = Json::array();
  for (std::size_t i = 0; i < last_bytes.size(); ++i) {
    streams.push_back(static_cast<double>(last_bytes[i] - first_bytes[i]) / seconds);
    throughput += streams.back().get<double>();
  }
  return {{"op", "finished"},
          {"throughput", throughput},
          {"seconds", seconds},
          {"streams", streams},
          {"counters", counters_delta(before.parse(), after.parse())},
          {"info", run.lanes().front().channel->info()}};
}

/// Waits until all datagrams have arrived, or the network has been quiet for a while.
void await_quiet(ServerRun& run, std::uint64_t sent) {
  constexpr Nanoseconds kQuiet = 50 * kMillisecond;
  std::uint64_t arrived = 0;
  do {
    arrived = Passed::by_now(run.lanes()).messages;
    run.pause(now() + kQuiet, [&] { return Passed::by_now(run.lanes()).messages >= sent; });
  } while (Passed::by_now(run.lanes()).messages > arrived && arrived < sent);
}

void Stream::attend(ServerRun& run) const {
  (void)run.await("begin");
  run.await_lanes();
  run.answer({{"op", "begun"}});
  await_first_bytes(run);
  run.pause(now() + from_seconds(run.params().at("warmup_seconds").get<double>()));
  run.answer(measure_window(run));
  const Json total = run.await("total");
  if (const auto sent = optional_value<std::uint64_t>(total, "datagrams")) {
    await_quiet(run, *sent);
  }
  run.answer({{"op", "total"}, {"datagrams", Passed::by_now(run.lanes()).messages}});
}

void Stream::serve(Lane& lane, const Json& params) const {
  Channel& channel = *lane.channel;
  const auto bytes = params.at("bytes").get<std::size_t>();
  const bool gather = params.at("gather").get<bool>();
  const Buffer buffer(gather ? receive_size(params) : std::min(bytes, kMostPiece));
  std::size_t got = 0;
  if (channel.receive_some(buffer.span(), got) != Io::kDone) {
    return;
  }
  lane.count(got);  // the first bytes at once: the run waits for them
  if (gather) {
    channel.gather(std::min({bytes, buffer.span().size(), kMostGathered}));
  }
  while (channel.receive_some(buffer.span(), got) == Io::kDone) {
    lane.count(got);
  }
}

const Registered<Pattern> registered{std::make_unique<Stream>()};

}  // namespace
}  // namespace wulf::net
