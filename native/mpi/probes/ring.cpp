#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/stats/summary.hpp"
#include "core/time/clock.hpp"
#include "mpi/plain/messages/orders.hpp"
#include "mpi/plain/messages/pieces.hpp"
#include "mpi/probe.hpp"

namespace wulf::mpi {
namespace {

constexpr int kToRight = 31;
constexpr int kToLeft = 32;

/// How often HPCC 1.5 does what, for one of its two message sizes.
struct Times {
  int measurements;  ///< of which the fastest counts
  int loops;         ///< each this many messages to both sides
  int rings;         ///< random ones, whose geometric mean counts
};
constexpr Times kForLatency{8, 5, 30};
constexpr Times kForThroughput{3, 2, 10};

/// Messages to both neighbours, and their check: a neighbour's first and last byte tell who sent it when.
class Sides {
 public:
  Sides(const World& world, std::size_t bytes)
      : world_(world),
        bytes_(bytes),
        to_left_(bytes),
        to_right_(bytes),
        from_left_(bytes),
        from_right_(bytes) {}

  void meet(const Neighbours& beside) { beside_ = beside; }

  /// Both directions with MPI_Sendrecv, one after the other.
  void one_after_the_other() {
    MPI_Sendrecv(to_right_.data(), length(), MPI_BYTE, beside_.right, kToRight, from_left_.data(), length(),
                 MPI_BYTE, beside_.left, kToRight, world_.comm(), MPI_STATUS_IGNORE);
    MPI_Sendrecv(to_left_.data(), length(), MPI_BYTE, beside_.left, kToLeft, from_right_.data(), length(),
                 MPI_BYTE, beside_.right, kToLeft, world_.comm(), MPI_STATUS_IGNORE);
  }

  /// Both directions at once.
  void at_once() {
    std::array<MPI_Request, 4> requests{};
    MPI_Irecv(from_left_.data(), length(), MPI_BYTE, beside_.left, kToRight, world_.comm(), requests.data());
    MPI_Irecv(from_right_.data(), length(), MPI_BYTE, beside_.right, kToLeft, world_.comm(), &requests[1]);
    MPI_Isend(to_right_.data(), length(), MPI_BYTE, beside_.right, kToRight, world_.comm(), &requests[2]);
    MPI_Isend(to_left_.data(), length(), MPI_BYTE, beside_.left, kToLeft, world_.comm(), &requests[3]);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
  }

  /// Writes what only the next message holds.
  void stamp(int turn) {
    turn_ = turn;
    for (auto* buffer : {&to_left_, &to_right_}) {
      buffer->front() = buffer->back() = byte_of(world_.rank(), 0, static_cast<std::size_t>(turn));
    }
  }

  void check() {
    for (const auto& [buffer, from] : {std::pair{&from_left_, beside_.left}, {&from_right_, beside_.right}}) {
      const std::byte expected = byte_of(from, 0, static_cast<std::size_t>(turn_));
      if (!wrong_ && (buffer->front() != expected || buffer->back() != expected)) {
        wrong_ = "message " + std::to_string(turn_) + " from rank " + std::to_string(from) + " begins with " +
                 std::to_string(std::to_integer<int>(buffer->front())) + " and ends with " +
                 std::to_string(std::to_integer<int>(buffer->back())) + " instead of " +
                 std::to_string(std::to_integer<int>(expected));
      }
    }
  }

  [[nodiscard]] const std::optional<std::string>& wrong() const { return wrong_; }

 private:
  [[nodiscard]] int length() const { return static_cast<int>(bytes_); }

  const World& world_;
  std::size_t bytes_;
  std::vector<std::byte> to_left_;
  std::vector<std::byte> to_right_;
  std::vector<std::byte> from_left_;
  std::vector<std::byte> from_right_;
  Neighbours beside_;
  int turn_ = 0;
  std::optional<std::string> wrong_;
};

/// Seconds a message, by the way of sending: a first exchange that does not count, then `loops` to both
/// sides.
template <typename Send>
double timed(const World& world, Sides& sides, int loops, Send send) {
  MPI_Barrier(world.comm());
  Nanoseconds start = 0;
  for (int turn = -1; turn < loops; ++turn) {
    if (turn == 0) {
      start = now();
    }
    sides.stamp(turn + 1);
    send();
    sides.check();
  }
  return to_seconds(now() - start) / (2.0 * loops);
}

/// Every rank sends to both its neighbours in a ring, as HPCC's and b_eff's (Rabenseifner, Koniges, 2001).
class RingReplicate : public Replicate {
 public:
  RingReplicate(const World& world, const Json& params)
      : world_(world),
        random_(params.at("order") == "random"),
        seed_(params.at("seed").get<std::uint64_t>()),
        rings_(optional_value<int>(params, "rings")),
        seconds_(params.at("seconds").get<double>()),
        short_(world, params.at("latency_bytes").get<std::size_t>()),
        long_(world, params.at("throughput_bytes").get<std::size_t>()),
        long_bytes_(params.at("throughput_bytes").get<double>()) {}

  Outcome measure() override {
    const Nanoseconds start = now();
    const std::vector<double> latencies = repeated(short_, kForLatency);
    std::vector<double> rates;
    for (const double time : repeated(long_, kForThroughput)) {
      rates.push_back(long_bytes_ / time);
    }
    for (const Sides* sides : {&short_, &long_}) {
      if (sides->wrong()) {
        throw Error("wrong-result", *sides->wrong());
      }
    }
    Outcome outcome;
    outcome.seconds = to_seconds(now() - start);
    outcome.metrics["latency"] = summary("s", latencies, latencies.size());
    outcome.metrics["throughput"] = summary("B/s", rates, rates.size());
    outcome.info = {{"latency_rings", rings(kForLatency)}, {"throughput_rings", rings(kForThroughput)}};
    return outcome;
  }

 private:
  /// HPCC's figure again and again for half of the time, at least once.
  std::vector<double> repeated(Sides& sides, const Times& times) {
    std::vector<double> figures;
    const Nanoseconds end = now() + from_seconds(seconds_ / 2);
    int more = 1;
    while (more != 0) {
      figures.push_back(figure(sides, times));
      more = now() < end ? 1 : 0;
      MPI_Bcast(&more, 1, MPI_INT, 0, world_.comm());
    }
    return figures;
  }

  /// Seconds a message: each rank's better way of sending, the slowest rank, the fastest measurement, and the
  /// geometric mean of the rings.
  double figure(Sides& sides, const Times& times) {
    const auto count = static_cast<std::size_t>(rings(times));
    std::vector<double> best(count, HUGE_VAL);
    for (int measurement = 0; measurement < times.measurements; ++measurement) {
      for (std::size_t ring = 0; ring < count; ++ring) {
        sides.meet(neighbours(order(ring), world_.rank()));
        const double first = timed(world_, sides, times.loops, [&] { sides.one_after_the_other(); });
        const double second = timed(world_, sides, times.loops, [&] { sides.at_once(); });
        double slowest = std::min(first, second);
        MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, world_.comm());
        best[ring] = std::min(best[ring], slowest);
      }
    }
    double logs = 0;
    for (const double each : best) {
      logs += std::log(each);
    }
    return std::exp(logs / static_cast<double>(count));
  }

  [[nodiscard]] int rings(const Times& times) const { return random_ ? rings_.value_or(times.rings) : 1; }

  [[nodiscard]] std::vector<int> order(std::size_t ring) const {
    if (random_) {
      return shuffled(world_.size(), seed_ + ring);
    }
    std::vector<int> natural(static_cast<std::size_t>(world_.size()));
    std::generate(natural.begin(), natural.end(), [next = 0]() mutable { return next++; });
    return natural;
  }

  const World& world_;
  bool random_;
  std::uint64_t seed_;
  std::optional<int> rings_;
  double seconds_;
  Sides short_;
  Sides long_;
  double long_bytes_;
};

class RingProbe : public RankProbe {
 public:
  RingProbe()
      : RankProbe("ring", "pattern",
                  "All ranks send to both neighbours in a ring at once, as HPCC and b_eff do") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMost = 1 << 28;
    return {
        {"order",
         ParamType::kStr,
         "",
         "natural",
         nullptr,
         nullptr,
         "of ranks in the ring: natural, or the geometric mean of random ones",
         {"natural", "random"}},
        {"seed", ParamType::kInt, "1", 1, 0, nullptr, "of the random orders"},
        {"rings", ParamType::kInt, "1", nullptr, 1, nullptr,
         "so many random orders; unless given 30 for the latency and 10 for the throughput, as HPCC"},
        {"latency_bytes", ParamType::kInt, "B", 8, 1, kMost, "of the messages that give the latency"},
        {"throughput_bytes", ParamType::kInt, "B", 2'000'000, 1, kMost, "of those that give the throughput"}};
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower",
             "half of the time in which a rank sends to both neighbours and hears from both"},
            {"throughput", "B/s", "higher", "of each rank: the bytes of a message by such a half"}};
  }
  [[nodiscard]] int least_ranks() const override { return 1; }
  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    return std::make_unique<RingReplicate>(world, params);
  }
};

const Registered<RankProbe> registered_ring_probe{std::make_unique<RingProbe>()};

}  // namespace
}  // namespace wulf::mpi
