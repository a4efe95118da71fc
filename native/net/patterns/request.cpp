#include <cstring>
#include <deque>

#include "core/error.hpp"
#include "net/client_timed.hpp"
#include "net/exchange.hpp"

namespace wulf::net {
namespace {

/// Requests and answers with several on the way at once, over a byte stream, which keeps their order.
class Requests {
 public:
  Requests(const ClientRun& run, Lane& lane)
      : channel_(*lane.channel),
        lane_(lane),
        window_(run.param<std::size_t>("window")),
        asked_(run.param<std::size_t>("bytes")),
        answered_(run.param<std::size_t>("reply_bytes")),
        request_(Buffer::of(run.params(), asked_)),
        reply_(Buffer::of(run.params(), answered_)) {}

  /// Keeps the window full for the time, then takes the answers that are owed.
  void run(const Bounds& bounds, Tally& tally) {
    const Nanoseconds start = now();
    while (on_the_way_.size() < window_) {
      ask(now());
    }
    while (true) {
      const Nanoseconds at = take(tally);
      tally.elapsed = at - start;
      if (tally.elapsed >= bounds.span) {
        break;
      }
      ask(at);
    }
    Tally rest;
    while (!on_the_way_.empty()) {
      take(rest);
    }
  }

 private:
  void ask(Nanoseconds at) {
    on_the_way_.push_back(at);
    if (send_message(channel_, request_.next(), asked_) != Io::kDone) {
      throw Error("peer-lost", "the connection closed in the middle of the run");
    }
  }

  Nanoseconds take(Tally& tally) {
    if (receive_message(channel_, reply_.next(), answered_) != Io::kDone) {
      throw Error("peer-lost", "the connection closed in the middle of the run");
    }
    const Nanoseconds at = now();
    tally.rtt.record(at - on_the_way_.front());
    on_the_way_.pop_front();
    lane_.count(asked_ + answered_);
    return at;
  }

  Channel& channel_;
  Lane& lane_;
  std::size_t window_;
  std::size_t asked_;
  std::size_t answered_;
  Buffer request_;
  Buffer reply_;
  std::deque<Nanoseconds> on_the_way_;  ///< when each was asked
};

/// Requests and answers of their own lengths, with a window of requests on the way.
class Request final : public ClientTimed {
 public:
  Request()
      : ClientTimed("request", "requests and answers, several on the way at once: transactions a second") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kSeconds = 0.1;
    constexpr std::int64_t kWindow = 16;
    std::vector<Param> list{{"bytes", ParamType::kInt, "B", 1, 1, kMostOnTheWay, "length of a request"},
                            {"reply_bytes", ParamType::kInt, "B", 1, 1, kMostOnTheWay, "length of an answer"},
                            {"window", ParamType::kInt, "1", kWindow, 1, 4096,
                             "requests on the way at once; 1 = the next goes when the answer is there"}};
    for (const auto& more : {time_params(kSeconds, "transaction"), channel_params(/*nodelay=*/true)}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {
        {"transactions", "Hz", "higher", "answers a second"},
        {"rtt", "s", "lower", "from a request to its answer, waiting behind others included; the median"}};
  }

  [[nodiscard]] bool supports(const Transport& transport) const override {
    return !transport.spec().datagrams;
  }
  [[nodiscard]] std::size_t lanes(const Json& /*params*/) const override { return 1; }

  [[nodiscard]] Outcome measure(ClientRun& run) const override {
    check_window(run.params());
    begin(run);
    Requests requests(run, run.lanes().front());
    const auto phase = [&](double seconds, Tally& tally) {
      work(run, [&](Lane& /*lane*/) { requests.run({from_seconds(seconds)}, tally); });
    };
    const auto warmup = std::make_unique<Tally>();
    phase(run.param<double>("warmup_seconds"), *warmup);
    const auto tally = std::make_unique<Tally>();
    Outcome outcome = counted(run, [&] { phase(run.param<double>("seconds"), *tally); });
    outcome.seconds = to_seconds(tally->elapsed);
    outcome.metrics = {
        {"transactions",
         {{"unit", "Hz"}, {"value", static_cast<double>(tally->rtt.count()) / outcome.seconds}}},
        {"rtt", rtt_metric(*tally)}};
    return outcome;
  }

  void serve(Lane& lane, const Json& params, bool /*datagrams*/) const override {
    const auto asked = params.at("bytes").get<std::size_t>();
    const auto answered = params.at("reply_bytes").get<std::size_t>();
    Buffer request = Buffer::of(params, asked);
    Buffer reply = Buffer::of(params, answered);
    while (receive_message(*lane.channel, request.next(), asked) == Io::kDone &&
           send_message(*lane.channel, reply.next(), answered) == Io::kDone) {
      lane.count(asked + answered);
    }
  }

 private:
  /// What both directions' buffers hold for sure, so that neither end waits for the other to read.
  static constexpr std::int64_t kMostOnTheWay = 64 << 10;

  static void check_window(const Json& params) {
    const auto window = params.at("window").get<std::int64_t>();
    const auto longest =
        std::max(params.at("bytes").get<std::int64_t>(), params.at("reply_bytes").get<std::int64_t>());
    if (window > 1 && window * longest > kMostOnTheWay) {
      throw bad_parameter("window",
                          std::to_string(window) + " times " + std::to_string(longest) +
                              " B are on the way at once, but may be 65536 B: both ends would wait for "
                              "the other to read");
    }
  }
};

const Registered<Pattern> registered{std::make_unique<Request>()};

}  // namespace
}  // namespace wulf::net
