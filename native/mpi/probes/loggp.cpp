#include <algorithm>
#include <cstddef>
#include <vector>

#include "core/clock.hpp"
#include "core/summary.hpp"
#include "mpi/batches.hpp"
#include "mpi/pairs.hpp"

namespace wulf::mpi {
namespace {

constexpr int kLogGpTag = 9;

/// PRTT(n, d, s): n messages of s bytes with d seconds between them, and one answer to the last (Hoefler,
/// Lichei and Rehm, Low-Overhead LogGP Parameter Assessment for Modern Interconnection Networks, IPDPS 2007).
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
    outcome.metrics["delay"] = {{"unit", "s"}, {"value", waited()}};
    outcome.seconds = batches.spent();
    outcome.info = {{"ranks", Json::array({sender_, receiver_})}, {"batch", batches.count()}};
    return outcome;
  }

  void ask(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      send(receiver_);
      for (std::int64_t k = 1; k < messages_; ++k) {
        pause();
        send(receiver_);
      }
      receive(receiver_);
    }
  }

  void answer(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      for (std::int64_t k = 0; k < messages_; ++k) {
        receive(sender_);
      }
      send(sender_);
    }
  }

  void send(int to) { MPI_Send(buffer_.data(), length(), MPI_BYTE, to, kLogGpTag, world_.comm()); }
  void receive(int from) {
    MPI_Recv(buffer_.data(), length(), MPI_BYTE, from, kLogGpTag, world_.comm(), MPI_STATUS_IGNORE);
  }

  /// Busy, as a program that computes between its messages; not even the clock is read where there is none.
  void pause() const {
    if (delay_ > 0) {
      for (const Nanoseconds end = now() + delay_; now() < end;) {
      }
    }
  }

  /// How long a pause really is, its clock included: the median of so many, as others may take the CPU.
  [[nodiscard]] double waited() const {
    constexpr int kTimes = 31;
    std::vector<double> each;
    for (int i = 0; delay_ > 0 && i < kTimes; ++i) {
      const Nanoseconds start = now();
      pause();
      pause();
      each.push_back(to_seconds(now() - start) / 2);
    }
    std::sort(each.begin(), each.end());
    return each.empty() ? 0.0 : quantile_of_sorted(each, 0.5);
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
};

class LogGPProbe : public Probe {
 public:
  LogGPProbe() : Probe("loggp", "p2p", "Messages with pauses between them, and one answer to the last") {}

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
            {"delay", "s", "lower", "between two messages, as it really was"}};
  }
  [[nodiscard]] std::vector<int> ends(const World& world, const Json& params) const override {
    const auto [sender, receiver] = pair_of(world, params);
    return {sender, receiver};
  }
  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    return std::make_unique<Prtt>(world, params, pair_of(world, params));
  }
};

const Registered<Probe> registered_log_g_p_probe{std::make_unique<LogGPProbe>()};

}  // namespace
}  // namespace wulf::mpi
