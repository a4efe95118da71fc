#include "net/flow/oneway.hpp"

#include <cstring>

#include "core/json/error.hpp"
#include "core/time/host_clock.hpp"
#include "net/client/timed.hpp"
#include "net/flow/buffer.hpp"

namespace wulf::net {
namespace {

/// What stands in a message: the server's two times.
struct Stamped {
  std::uint64_t number;
  Nanoseconds arrived;
  Nanoseconds returned;
};
constexpr std::int64_t kLeast = sizeof(Stamped);

/// Round trips whose server says when it had the message: the delay of each way, as far as the clocks agree.
class OneWay final : public ClientTimed {
 public:
  OneWay()
      : ClientTimed("oneway", "the delay of each way by itself, with a bound for the error of the clocks") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kSeconds = 0.1;
    std::vector<Param> list{{"bytes", ParamType::kInt, "B", kLeast, kLeast, 65507, "length of the message"}};
    for (const auto& more : {time_params(kSeconds, "exchange"), channel_params(/*nodelay=*/true)}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"asymmetry", "s", "lower", "there minus home, the median: 0 on a symmetric path"},
            {"there", "s", "lower", "from the client to the server; the median"},
            {"home", "s", "lower", "from the server to the client; the median"},
            {"clock_error", "s", "lower", "how far the two hosts' clocks may be apart"},
            {"rtt", "s", "lower", "both ways without the server's own time; the median"},
            {"there_varies", "s", "lower",
             "99 % quantile over the least of the way there: needs no common clock"},
            {"home_varies", "s", "lower", "the same of the way home"}};
  }

  [[nodiscard]] bool supports(const Transport& transport) const override {
    return transport.spec().has_server;
  }
  [[nodiscard]] std::size_t lanes(const Json& /*params*/) const override { return 1; }

  [[nodiscard]] Outcome measure(ClientRun& run) const override {
    begin(run);
    std::vector<Stamps> exchanges;
    std::uint64_t number = 0;
    const auto phase = [&](double seconds) {
      exchanges.clear();
      work(run, [&](Lane& lane) { exchange(run, lane, from_seconds(seconds), number, exchanges); });
    };
    phase(run.param<double>("warmup_seconds"));
    const Nanoseconds start = now();
    Outcome outcome = counted(run, [&] { phase(run.param<double>("seconds")); });
    outcome.seconds = to_seconds(now() - start);
    if (exchanges.empty()) {
      throw Error("timeout", "no message came back in time");
    }
    const Json own = describe_host_clock();
    const Json server = outcome.info.at("server").value("clock", Json::object());
    const ClockBound bound = clock_bound(own, server, exchanges);
    outcome.metrics = oneway_metrics(exchanges, bound);
    outcome.info["clock"] = own;
    outcome.info["clock_bound"] = bound.source;
    outcome.info["exchanges"] = exchanges.size();
    return outcome;
  }

  void serve(Lane& lane, const Json& params, bool datagrams) const override {
    const auto bytes = params.at("bytes").get<std::size_t>();
    Buffer buffer = Buffer::of(params, bytes);
    while (true) {
      std::size_t got = bytes;
      const Io io = datagrams ? lane.channel->receive(buffer.next(), got)
                              : receive_message(*lane.channel, buffer.next(), bytes);
      if (io == Io::kClosed) {
        return;
      }
      if (io != Io::kDone || got != bytes) {
        continue;
      }
      Stamped stamped{};
      std::memcpy(&stamped, buffer.span().data(), sizeof(stamped));
      stamped.arrived = time_of_day();
      stamped.returned = time_of_day();
      std::memcpy(buffer.span().data(), &stamped, sizeof(stamped));
      if (send_message(*lane.channel, buffer.span(), bytes) == Io::kClosed) {
        return;
      }
      lane.count(bytes);
    }
  }

 protected:
  [[nodiscard]] Json server_info() const override { return {{"clock", describe_host_clock()}}; }

 private:
  static constexpr std::size_t kMostExchanges = 1 << 20;

  static void exchange(const ClientRun& run, Lane& lane, Nanoseconds span, std::uint64_t& number,
                       std::vector<Stamps>& exchanges) {
    const bool datagrams = run.transport().spec().datagrams;
    const auto bytes = run.param<std::size_t>("bytes");
    const Nanoseconds patience = from_seconds(run.timeout());
    Buffer buffer = Buffer::of(run.params(), bytes);
    const Nanoseconds start = now();
    do {
      Stamped stamped{.number = ++number, .arrived = 0, .returned = 0};
      std::memcpy(buffer.next().data(), &stamped, sizeof(stamped));
      const Nanoseconds left = time_of_day();
      if (send_message(*lane.channel, buffer.span(), bytes) == Io::kClosed ||
          !await_echo(lane, buffer, bytes, datagrams, number, now() + patience)) {
        throw Error("peer-lost", "the channel closed, or a message was lost, in the middle of the run");
      }
      const Nanoseconds back = time_of_day();
      std::memcpy(&stamped, buffer.span().data(), sizeof(stamped));
      exchanges.push_back({left, stamped.arrived, stamped.returned, back});
      lane.count(bytes);
    } while (now() - start < span && exchanges.size() < kMostExchanges);
  }

  static bool await_echo(Lane& lane, Buffer& buffer, std::size_t bytes, bool datagrams, std::uint64_t number,
                         Nanoseconds deadline) {
    while (now() < deadline) {
      std::size_t got = bytes;
      const Io io = datagrams ? lane.channel->receive(buffer.span(), got)
                              : receive_message(*lane.channel, buffer.span(), bytes);
      if (io == Io::kClosed) {
        return false;
      }
      if (io == Io::kDone && got == bytes &&
          std::memcmp(buffer.span().data(), &number, sizeof(number)) == 0) {
        return true;
      }
    }
    return false;
  }
};

const Registered<Pattern> registered_one_way{std::make_unique<OneWay>()};

}  // namespace
}  // namespace wulf::net
