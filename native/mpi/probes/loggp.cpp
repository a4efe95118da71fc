#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/stats/summary.hpp"
#include "core/time/clock.hpp"
#include "mpi/messages/pairs.hpp"
#include "mpi/time/batches.hpp"

namespace wulf::mpi {
namespace {

constexpr int kLogGpTag = 9;

/// The time that calls take, train by train: of each the mean, without what reading the clock takes.
class CallTimes {
 public:
  template <typename Call>
  void add(const Call& call) {
    const Nanoseconds start = now();
    call();
    spent_ += now() - start;
    ++calls_;
  }
  void end_train() {
    if (calls_ > 0) {
      trains_.push_back(to_seconds(spent_) / static_cast<double>(calls_));
    }
    spent_ = 0;
    calls_ = 0;
  }
  /// Seconds of a call, of the train in the middle.
  [[nodiscard]] double typical() const { return std::max(0.0, median_of(trains_) - clock()); }

 private:
  static double clock() {
    constexpr int kTimes = 31;
    std::vector<double> each;
    for (int i = 0; i < kTimes; ++i) {
      const Nanoseconds start = now();
      each.push_back(to_seconds(now() - start));
    }
    return median_of(std::move(each));
  }

  Nanoseconds spent_ = 0;
  std::int64_t calls_ = 0;
  std::vector<double> trains_;
};

/// PRTT(n, d, s): n messages of s bytes with d seconds between them, and one answer to the last (Hoefler,
/// Lichei and Rehm, Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks, IPDPS 2007).
///
/// Where messages have pauses between them, the calls are timed themselves: a sender's, whose adapter has
/// done with the message before; and a receiver's, who comes when all messages are there.
class Prtt : public Replicate {
 public:
  Prtt(const World& world, const Json& params, RankPair pair)
      : world_(world),
        sender_(pair.first),
        receiver_(pair.second),
        crew_(world, sender_, {receiver_}),
        length_{params.at("seconds").get<double>(), std::nullopt},
        messages_(params.at("messages").get<std::int64_t>()),
        delay_(from_seconds(params.at("delay").get<double>())),
        buffer_(takes_part() ? params.at("bytes").get<std::size_t>() : 0) {}

  Outcome measure() override {
    Outcome outcome;
    if (world_.rank() == sender_) {
      outcome = lead();
    } else if (world_.rank() == receiver_) {
      follow(
          crew_, [](const Order&) {}, [this](const Order& order) { answer(order.count); });
      if (paused()) {
        const double receiving = calls_.typical();
        MPI_Send(&receiving, 1, MPI_DOUBLE, sender_, kLogGpTag, world_.comm());
      }
    }
    return handed_over(world_, sender_, outcome);
  }

 private:
  [[nodiscard]] bool takes_part() const { return world_.rank() == sender_ || world_.rank() == receiver_; }

  Outcome lead() {
    const Batches batches =
        time_batches(crew_, {}, length_, [this](const Order& order) { ask(order.count); });
    crew_.tell({0});
    Outcome outcome;
    outcome.metrics["prtt"] = batches.time();
    if (paused()) {
      double receiving = 0;
      MPI_Recv(&receiving, 1, MPI_DOUBLE, receiver_, kLogGpTag, world_.comm(), MPI_STATUS_IGNORE);
      outcome.metrics["send"] = {{"unit", "s"}, {"value", calls_.typical()}};
      outcome.metrics["receive"] = {{"unit", "s"}, {"value", receiving}};
    }
    outcome.seconds = batches.spent();
    outcome.info = {{"ranks", Json::array({sender_, receiver_})}, {"batch", batches.count()}};
    return outcome;
  }

  void ask(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      send(receiver_);
      for (std::int64_t k = 1; k < messages_; ++k) {
        if (paused()) {
          pause();
        }
        timed([this] { send(receiver_); });
      }
      calls_.end_train();
      receive(receiver_);
    }
  }

  void answer(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      receive(sender_);
      for (std::int64_t k = 0; paused() && k < messages_; ++k) {
        pause();  // the others come meanwhile
      }
      for (std::int64_t k = 1; k < messages_; ++k) {
        timed([this] { receive(sender_); });
      }
      calls_.end_train();
      send(sender_);
    }
  }

  [[nodiscard]] bool paused() const { return delay_ > 0; }

  /// A call, whose time counts where there are pauses; where there are none not even the clock is read.
  template <typename Call>
  void timed(const Call& call) {
    paused() ? calls_.add(call) : call();
  }

  void send(int to) { MPI_Send(buffer_.data(), length(), MPI_BYTE, to, kLogGpTag, world_.comm()); }
  void receive(int from) {
    MPI_Recv(buffer_.data(), length(), MPI_BYTE, from, kLogGpTag, world_.comm(), MPI_STATUS_IGNORE);
  }

  /// Busy, as a program that computes between its messages.
  void pause() const {
    for (const Nanoseconds end = now() + delay_; now() < end;) {
    }
  }

  [[nodiscard]] int length() const { return static_cast<int>(buffer_.size()); }

  const World& world_;
  int sender_;
  int receiver_;
  Crew crew_;
  Length length_;
  std::int64_t messages_;
  Nanoseconds delay_;
  std::vector<std::byte> buffer_;
  CallTimes calls_;
};

class LogGPProbe : public RankProbe {
 public:
  LogGPProbe() : RankProbe("loggp", "p2p", "Messages with pauses between them, and one answer to the last") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMostBytes = 1 << 28;
    constexpr int kMostMessages = 1 << 16;
    constexpr int kMostRanks = 1 << 24;
    return {{"a", ParamType::kInt, "", 0, 0, kMostRanks, "the rank that sends them"},
            {"b", ParamType::kInt, "", nullptr, 0, kMostRanks, "the rank that answers [the last]"},
            {"bytes", ParamType::kInt, "B", 1, 0, kMostBytes, "of a message, and of the answer"},
            {"messages", ParamType::kInt, "1", 1, 1, kMostMessages, "before the answer"},
            {"delay", ParamType::kFloat, "s", 0.0, 0.0, 1.0, "between two messages, computing"}};
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"prtt", "s", "lower", "from the first message to the answer"},
            {"send", "s", "lower", "in a call that sends, where messages have pauses between them"},
            {"receive", "s", "lower", "in a call that receives a message that is there"}};
  }
  [[nodiscard]] std::vector<int> ends(const World& world, const Json& params) const override {
    const auto [sender, receiver] = pair_of(world, params);
    return {sender, receiver};
  }
  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    return std::make_unique<Prtt>(world, params, pair_of(world, params));
  }
};

const Registered<RankProbe> registered_log_g_p_probe{std::make_unique<LogGPProbe>()};

}  // namespace
}  // namespace wulf::mpi
