#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <thread>

#include "core/json/error.hpp"
#include "net/client/timed.hpp"
#include "net/flow/exchange.hpp"
#include "net/flow/timetable.hpp"

namespace wulf::net {
namespace {

/// What came back of an open loop.
struct Echoes {
  Histogram delay;        ///< from when each message was due
  Histogram uncorrected;  ///< from when it was sent
  Histogram lag;          ///< from when it was due until it was sent
  std::uint64_t due = 0;  ///< messages of the measured time
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::uint64_t in_time = 0;  ///< received before the measured time was over
};

/// A sender that follows the timetable, whatever comes back, and a receiver.
class Loop {
 public:
  Loop(ClientRun& run, Lane& lane, Echoes& echoes)
      : run_(run),
        channel_(*lane.channel),
        lane_(lane),
        echoes_(echoes),
        bytes_(run.param<std::size_t>("bytes")),
        datagrams_(run.transport().spec().datagrams),
        spin_(run.param<std::string>("pacing") == "spin"),
        outgoing_(Buffer::of(run.params(), bytes_)),
        table_(run.param<double>("rate"), now() + kHeadStart),
        unmeasured_(table_.within(from_seconds(run.param<double>("warmup_seconds")))),
        last_(unmeasured_ +
              std::max<std::uint64_t>(table_.within(from_seconds(run.param<double>("seconds"))), 1)) {
    echoes.due = last_ - unmeasured_;
  }

  void run() {
    std::thread sender([this] { send(); });
    try {
      receive();
    } catch (...) {
      stop_.store(true);
      channel_.interrupt();
      sender.join();
      throw;
    }
    sender.join();
  }

 private:
  static constexpr Nanoseconds kHeadStart = kMillisecond;
  static constexpr Nanoseconds kGrace = 50 * kMillisecond;  ///< for a sender that was held up at the very end
  static constexpr std::size_t kRemembered = 1 << 16;

  /// Until all are sent, or the time is over.
  void send() noexcept {
    prctl(PR_SET_TIMERSLACK, 1UL);  // sleeps are not to be rounded up by 50 µs
    const Nanoseconds end = table_.due(last_) + kGrace;
    for (std::uint64_t number = 0; number < last_ && !stop_.load(std::memory_order_relaxed); ++number) {
      const Nanoseconds at = await(table_.due(number));
      if (at > end) {
        break;  // the rest is never sent: it shows as not delivered
      }
      sent_at_[number % kRemembered].store(at, std::memory_order_relaxed);
      sent_.store(number + 1, std::memory_order_release);  // before its echo can be there
      std::memcpy(outgoing_.next().data(), &number, std::min(sizeof(number), outgoing_.size()));
      if (send_message(channel_, outgoing_.span(), bytes_) == Io::kClosed) {
        break;
      }
      if (number >= unmeasured_) {
        echoes_.lag.record(at - table_.due(number));
        ++echoes_.sent;
      }
    }
    sending_.store(false, std::memory_order_release);
    // One more, whose echo wakes the receiver once nothing else is to come. Its number is none of the
    // others'.
    constexpr std::uint64_t kClosing = UINT64_MAX;
    std::memcpy(outgoing_.next().data(), &kClosing, std::min(sizeof(kClosing), outgoing_.size()));
    send_message(channel_, outgoing_.span(), bytes_);
  }

  [[nodiscard]] Nanoseconds await(Nanoseconds due) const noexcept {
    Nanoseconds current = now();
    while (current < due && !stop_.load(std::memory_order_relaxed)) {
      if (!spin_) {
        const timespec when{due / kSecond, due % kSecond};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, nullptr);
      }
      current = now();
    }
    return current;
  }

  void receive() {
    Buffer buffer = Buffer::of(run_.params(), bytes_);
    const Nanoseconds end = table_.due(last_);
    const Nanoseconds given_up = end + from_seconds(run_.timeout());
    std::uint64_t next = 0;
    while (!all_back(next) && now() < given_up) {
      if (!take(buffer)) {
        continue;
      }
      const Nanoseconds at = now();
      const std::uint64_t number = datagrams_ ? number_of(buffer) : next;
      next = datagrams_ ? next + 1 : number + 1;
      lane_.count(bytes_);
      // Where the sender gave up, the echo that closes stands in the place of a message that was never sent.
      if (number >= unmeasured_ && number < std::min(last_, sent_.load(std::memory_order_acquire))) {
        note(number, at, end);
      }
    }
  }

  /// Waits for one echo. False when a datagram's wait was only nudged. Throws `peer-lost`.
  bool take(Buffer& buffer) {
    std::size_t got = 0;
    const Io io =
        datagrams_ ? channel_.receive(buffer.span(), got) : receive_message(channel_, buffer.span(), bytes_);
    if (io == Io::kClosed) {
      throw Error("peer-lost", "the connection closed in the middle of the run");
    }
    return io == Io::kDone && (!datagrams_ || got == bytes_);
  }

  /// A stream brings all that were sent, and the one that closes; datagrams may be lost, and are waited for a
  /// little while.
  [[nodiscard]] bool all_back(std::uint64_t received) const {
    if (sending_.load(std::memory_order_acquire)) {
      return false;
    }
    constexpr Nanoseconds kQuiet = 100 * kMillisecond;
    return received > sent_.load(std::memory_order_acquire) ||
           (datagrams_ && now() > table_.due(last_) + kQuiet);
  }

  [[nodiscard]] static std::uint64_t number_of(const Buffer& buffer) noexcept {
    std::uint64_t number = 0;
    std::memcpy(&number, buffer.span().data(), sizeof(number));
    return number;
  }

  void note(std::uint64_t number, Nanoseconds at, Nanoseconds end) noexcept {
    ++echoes_.received;
    echoes_.in_time += at <= end ? 1 : 0;
    echoes_.delay.record(at - table_.due(number));
    if (sent_.load(std::memory_order_acquire) - number < kRemembered) {
      echoes_.uncorrected.record(at - sent_at_[number % kRemembered].load(std::memory_order_relaxed));
    }
  }

  ClientRun& run_;
  Channel& channel_;
  Lane& lane_;
  Echoes& echoes_;
  std::size_t bytes_;
  bool datagrams_;
  bool spin_;
  Buffer outgoing_;
  Timetable table_;
  std::uint64_t unmeasured_;
  std::uint64_t last_;
  std::atomic<bool> stop_{false};
  std::atomic<bool> sending_{true};
  std::atomic<std::uint64_t> sent_{0};
  std::array<std::atomic<Nanoseconds>, kRemembered> sent_at_{};
};

/// Messages at a given rate, whatever the server does: what a user sees who does not wait for the one before.
/// Each message's delay counts from when it was due, so that a pause of the sender or the network is charged
/// to all that it held up (coordinated omission: Gil Tene, "How NOT to Measure Latency").
class OpenLoop final : public ClientTimed {
 public:
  OpenLoop()
      : ClientTimed("openloop",
                    "messages at a given rate, there and back: the delay from when each was due") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kSeconds = 0.2;
    constexpr double kRate = 1000;
    constexpr double kMostRate = 1e7;
    constexpr std::int64_t kBytes = 64;
    std::vector<Param> list{
        {"bytes", ParamType::kInt, "B", kBytes, 1, 1 << 20, "length of the message; datagrams: 8 at least"},
        {"rate", ParamType::kFloat, "Hz", kRate, 1, kMostRate, "messages a second"},
        {"pacing",
         ParamType::kStr,
         "",
         "sleep",
         nullptr,
         nullptr,
         "how the sender waits for the next time: sleep, or spin, which needs a CPU of its own",
         {"sleep", "spin"}}};
    for (const auto& more : {time_params(kSeconds, "message"), channel_params(/*nodelay=*/true)}) {
      list.insert(list.end(), more.begin(), more.end());
    }
    return list;
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"delay", "s", "lower",
             "from when a message was due until its echo was there; the value is the median"},
            {"delay_uncorrected", "s", "lower",
             "from when it was sent: what a benchmark shows that forgets the time it could not send"},
            {"lag", "s", "lower", "from when a message was due until it was sent"},
            {"delivered", "Hz", "higher", "echoes within the measured time, a second"},
            {"lost", "1", "lower", "messages of the measured time without an echo, sent or not"}};
  }

  [[nodiscard]] bool supports(const Transport& transport) const override {
    return transport.spec().has_server;
  }
  [[nodiscard]] std::size_t lanes(const Json& /*params*/) const override { return 1; }

  [[nodiscard]] Outcome measure(ClientRun& run) const override {
    if (run.transport().spec().datagrams && run.param<std::size_t>("bytes") < sizeof(std::uint64_t)) {
      throw bad_parameter("bytes", "bytes must be at least 8 over datagrams: each carries its number");
    }
    begin(run);
    const auto echoes = std::make_unique<Echoes>();
    Outcome outcome = counted(
        run, [&] { work(run, [&](Lane& lane) { std::make_unique<Loop>(run, lane, *echoes)->run(); }); });
    const std::string none = "no echo came back";
    outcome.seconds = static_cast<double>(echoes->due) / run.param<double>("rate");
    outcome.metrics = {
        {"delay", times_metric(echoes->delay, none)},
        {"delay_uncorrected", times_metric(echoes->uncorrected, none)},
        {"lag", times_metric(echoes->lag, "nothing was sent")},
        {"delivered", {{"unit", "Hz"}, {"value", static_cast<double>(echoes->in_time) / outcome.seconds}}},
        {"lost", {{"unit", "1"}, {"value", echoes->due - std::min(echoes->received, echoes->due)}}}};
    outcome.info["due"] = echoes->due;
    outcome.info["sent"] = echoes->sent;
    return outcome;
  }

  void serve(Lane& lane, const Json& params, bool datagrams) const override {
    const auto bytes = params.at("bytes").get<std::size_t>();
    Buffer buffer = Buffer::of(params, bytes);
    echo(lane, buffer, bytes, datagrams);
  }
};

const Registered<Pattern> registered_open_loop{std::make_unique<OpenLoop>()};

}  // namespace
}  // namespace wulf::net
