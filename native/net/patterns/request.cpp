#include <fstream>

#include "core/json/error.hpp"
#include "net/client/requests.hpp"
#include "net/client/timed.hpp"
#include "net/flow/outstanding.hpp"

namespace wulf::net {
namespace {

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
    return {{"transactions", "Hz", "higher", "answers a second"},
            {"rtt", "s", "lower", "from a request to its answer, waiting behind others included; the median"},
            {"lost", "1", "lower",
             "datagrams: requests without an answer within eight times the slowest, at least 20 ms; "
             "of local ones, which none loses, within the timeout"}};
  }

  [[nodiscard]] bool supports(const Transport& /*transport*/) const override { return true; }
  [[nodiscard]] std::size_t lanes(const Json& /*params*/) const override { return 1; }

  [[nodiscard]] Outcome measure(ClientRun& run) const override {
    check(run.transport().spec(), run.params());
    const Nanoseconds asked = begin(run);
    const auto requests = Requests::over(run, asked);
    const auto phase = [&](double seconds, Tally& tally) {
      work(run, [&](Lane& /*lane*/) { requests->run(from_seconds(seconds), tally); });
    };
    const auto warmup = std::make_unique<Tally>();
    phase(run.param<double>("warmup_seconds"), *warmup);
    const auto tally = std::make_unique<Tally>();
    Outcome outcome = counted(run, [&] { phase(run.param<double>("seconds"), *tally); });
    outcome.seconds = to_seconds(tally->elapsed);
    outcome.metrics = {{"transactions", rate_metric(*tally)},
                       {"rtt", rtt_metric(*tally)},
                       {"lost", {{"unit", "1"}, {"value", tally->lost}}}};
    if (tally->late > 0) {
      outcome.info["late"] = tally->late;
    }
    return outcome;
  }

  void serve(Lane& lane, const Json& params, bool datagrams) const override {
    answer_requests(lane, params, datagrams);
  }

 private:
  /// What both directions' buffers hold for sure, so that neither end waits for the other to read.
  static constexpr std::int64_t kMostOnTheWay = 64 << 10;

  static Json rate_metric(const Tally& tally) {
    if (tally.rtt.count() == 0) {
      return {{"unit", "Hz"}, {"value", nullptr}, {"reason", "no answer came back in time"}};
    }
    return {{"unit", "Hz"}, {"value", static_cast<double>(tally.rtt.count()) / to_seconds(tally.elapsed)}};
  }

  static void check(const Transport::Spec& transport, const Json& params) {
    if (params.at("reply_bytes").get<std::int64_t>() > transport.max_bytes) {
      throw bad_parameter("reply_bytes", "reply_bytes must be at most " +
                                             std::to_string(transport.max_bytes) +
                                             " B: the longest message of " + transport.name);
    }
    if (!transport.datagrams || transport.local) {
      check_room(params);
    }
    if (transport.datagrams) {
      check_numbers(params);
    }
    if (transport.datagrams && transport.local) {
      check_queues(params);
    }
  }

  /// What waits for the other to read, instead of losing anything, must not wait for itself.
  static void check_room(const Json& params) {
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

  static void check_numbers(const Json& params) {
    const auto window = params.at("window").get<std::size_t>();
    const std::size_t carried = carried_bytes(params);
    if (!Outstanding::can_tell_apart(window, carried)) {
      throw bad_parameter("window", "answers of " + std::to_string(carried) +
                                        " B cannot be told apart with " + std::to_string(window) +
                                        " on the way: each carries its number; use longer messages");
    }
  }

  /// A local datagram waits where the receiver's queue is full: one end's queue and the other's bound the
  /// window.
  static void check_queues(const Json& params) {
    std::int64_t queue = 10;  // the kernel's default: unix(7) and its source, net/unix/sysctl_net_unix.c
    std::ifstream("/proc/sys/net/unix/max_dgram_qlen") >> queue;
    const std::int64_t most = 2 * (queue + 1);  // a queue takes one beyond its limit
    const auto window = params.at("window").get<std::int64_t>();
    if (window > most) {
      throw bad_parameter("window", "window is " + std::to_string(window) + ", but must be at most " +
                                        std::to_string(most) +
                                        ": both ends would wait for the other to read; "
                                        "net.unix.max_dgram_qlen bounds it");
    }
  }
};

const Registered<Pattern> registered_request{std::make_unique<Request>()};

}  // namespace
}  // namespace wulf::net
