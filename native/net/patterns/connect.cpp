#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/random.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "core/json/error.hpp"
#include "net/client/timed.hpp"
#include "net/flow/exchange.hpp"

namespace wulf::net {
namespace {

/// What a connection shows before it is answered: drawn for the run, and told over its control connection.
using Pass = std::array<std::byte, 16>;

Json to_json(const Pass& pass) {
  Json list = Json::array();
  for (const std::byte each : pass) {
    list.push_back(std::to_integer<int>(each));
  }
  return list;
}

Pass to_pass(const Json& json) {
  Pass pass{};
  if (!json.is_array() || json.size() != pass.size()) {
    throw bad_parameter("pass", "pass must be a list of 16 numbers");
  }
  for (std::size_t i = 0; i < pass.size(); ++i) {
    pass[i] = static_cast<std::byte>(json.at(i).get<std::uint8_t>());
  }
  return pass;
}

/// A new TCP connection each time: the handshake, then a request and its answer over it. Closed by a reset,
/// so that no port has to wait (TIME_WAIT, RFC 9293), at neither end.
class Connect final : public ClientTimed {
 public:
  Connect()
      : ClientTimed("connect", "a connection, a request and an answer, closed again: connections a second") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kSeconds = 0.1;
    std::vector<Param> list{
        {"bytes", ParamType::kInt, "B", kPass, kPass, kPass, "length of the request; fixed"}};
    for (const auto& more : {time_params(kSeconds, "connection"), channel_params(/*nodelay=*/true)}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"connect", "s", "lower", "the handshake, as connect(2) takes; the value is the median"},
            {"transaction", "s", "lower", "handshake, request and answer; the value is the median"},
            {"connections", "Hz", "higher", "such transactions a second, closing included"}};
  }

  [[nodiscard]] bool supports(const Transport& transport) const override { return transport.name() == "tcp"; }
  [[nodiscard]] std::size_t lanes(const Json& /*params*/) const override { return 1; }

  [[nodiscard]] Outcome measure(ClientRun& run) const override {
    Pass pass{};
    if (getrandom(pass.data(), pass.size(), 0) != static_cast<ssize_t>(pass.size())) {
      throw Error("internal", "the system gives no random numbers");
    }
    const Json begun = run.peer().ask({{"op", "begin"}, {"pass", to_json(pass)}});
    Address server = run.address();
    server.set_port(begun.at("port").get<std::uint16_t>());
    const ChannelOptions options = ChannelOptions::from(run.params());
    const auto phase = [&](double seconds) {
      auto times = std::make_unique<Times>();
      const auto body = [&](Lane& lane) {
        const Nanoseconds start = now();
        do {
          connect_once(server, pass, options, run.timeout(), *times);
          lane.count(pass.size());
        } while (now() - start < from_seconds(seconds));
        times->elapsed = now() - start;
      };
      Crew(run.lanes(), run.cpu(), body, Crew::Files::kAll).watch(run.peer(), watch_of(run));
      return times;
    };
    phase(run.param<double>("warmup_seconds"));
    std::unique_ptr<Times> times;
    Outcome outcome = counted(run, [&] { times = phase(run.param<double>("seconds")); });
    outcome.seconds = to_seconds(times->elapsed);
    outcome.metrics = {
        {"connect", times_metric(times->handshake, "")},
        {"transaction", times_metric(times->whole, "")},
        {"connections",
         {{"unit", "Hz"}, {"value", static_cast<double>(times->whole.count()) / outcome.seconds}}}};
    return outcome;
  }

  void attend(ServerRun& run) const override {
    const Json begin = run.await("begin");
    const Pass pass = to_pass(begin.value("pass", Json()));
    run.await_lanes();
    Address address = Address::of_socket(run.control());
    address.set_port(0);
    const Socket listener = listen_at(address);
    Threads threads;
    std::atomic<bool> stop{false};
    threads.start([&] { answer_all(listener, pass, stop); });
    const Ending ending(stop, threads);
    run.answer({{"op", "begun"}, {"port", Address::of_socket(listener.fd()).port()}});
    converse(run);
  }

  /// The run's one lane carries nothing: it only shows that the way is open.
  void serve(Lane& lane, const Json& /*params*/, bool /*datagrams*/) const override {
    std::byte word{};
    std::size_t got = 0;
    lane.channel->receive({&word, 1}, got);
  }

 private:
  static constexpr std::int64_t kPass = sizeof(Pass);

  struct Times {
    Histogram handshake;
    Histogram whole;
    Nanoseconds elapsed = 0;
  };

  /// Ends the answering thread, however the run ends.
  class Ending {
   public:
    Ending(std::atomic<bool>& stop, Threads& threads) : stop_(stop), threads_(threads) {}
    Ending(const Ending&) = delete;
    Ending& operator=(const Ending&) = delete;
    Ending(Ending&&) = delete;
    Ending& operator=(Ending&&) = delete;
    ~Ending() {
      stop_.store(true);
      threads_.join();
    }

   private:
    std::atomic<bool>& stop_;
    Threads& threads_;
  };

  static void connect_once(const Address& server, const Pass& pass, const ChannelOptions& options,
                           double timeout, Times& times) {
    const Nanoseconds start = now();
    const Socket socket = Socket::create(server.family(), SOCK_STREAM);
    options.apply_tcp(socket);
    const linger at_once{.l_onoff = 1, .l_linger = 0};
    setsockopt(socket.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    const Nanoseconds created = now();
    socket.connect(server, timeout);
    const Nanoseconds connected = now();
    std::byte answer{};
    if (send(socket.fd(), pass.data(), pass.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(pass.size()) ||
        recv(socket.fd(), &answer, 1, 0) != 1) {
      throw Error("peer-lost", "the server closed a connection without an answer");
    }
    times.handshake.record(connected - created);
    times.whole.record(now() - start);
  }

  /// A listener that is woken only when a connection has brought data: strangers that say nothing are never
  /// seen.
  static Socket listen_at(const Address& address) {
    constexpr int kBacklog = 1024;
    constexpr int kPatience = 5;  // seconds
    Socket listener = Socket::create(address.family(), SOCK_STREAM);
    listener.bind(address);
    listener.set_option(IPPROTO_TCP, TCP_DEFER_ACCEPT, kPatience);
    listener.set_blocking(false);
    if (::listen(listener.fd(), kBacklog) != 0) {
      throw system_error("address", "cannot listen at " + address.text(), errno);
    }
    return listener;
  }

  static void answer_all(const Socket& listener, const Pass& pass, const std::atomic<bool>& stop) {
    while (!stop.load(std::memory_order_relaxed)) {
      const Socket socket(accept4(listener.fd(), nullptr, nullptr, SOCK_CLOEXEC));
      if (socket.fd() < 0) {
        wait_for(listener.fd(), POLLIN, now() + (20 * kMillisecond));
        continue;
      }
      Pass shown{};
      const std::byte answer{1};
      if (recv(socket.fd(), shown.data(), shown.size(), MSG_DONTWAIT) == static_cast<ssize_t>(shown.size()) &&
          shown == pass) {
        send(socket.fd(), &answer, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
      }
    }
  }
};

const Registered<Pattern> registered_connect{std::make_unique<Connect>()};

}  // namespace
}  // namespace wulf::net
