#include <cstddef>
#include <vector>

#include "core/clock.hpp"
#include "core/histogram.hpp"
#include "mpi/probe.hpp"

namespace wulf::mpi {
namespace {

constexpr int kTag = 7;

/// One message there and one back, `count` times.
class PingPong : public Replicate {
 public:
  PingPong(const World& world, const Json& params, int a, int b)
      : world_(world),
        a_(a),
        b_(b),
        seconds_(params.at("seconds")),
        out_(params.at("bytes").get<std::size_t>()),
        in_(out_.size()) {}

  Outcome measure() override {
    if (world_.rank() == a_) {
      lead();
    } else if (world_.rank() == b_) {
      follow();
    }
    return outcome();
  }

 private:
  void lead() {
    std::int64_t count = 1;
    for (Nanoseconds spent = 0; spent < kBatch; count *= 2) {
      spent = batch(count);
    }
    const Nanoseconds start = now();
    while (now() - start < from_seconds(seconds_)) {
      const Nanoseconds spent = batch(count);
      each_.record(spent / count);
      trips_ += count;
    }
    spent_ = now() - start;
    tell(0);
  }

  Nanoseconds batch(std::int64_t count) {
    tell(count);
    const Nanoseconds start = now();
    for (std::int64_t i = 0; i < count; ++i) {
      MPI_Send(out_.data(), length(), MPI_BYTE, b_, kTag, world_.comm());
      MPI_Recv(in_.data(), length(), MPI_BYTE, b_, kTag, world_.comm(), MPI_STATUS_IGNORE);
    }
    return now() - start;
  }

  void follow() {
    while (true) {
      std::int64_t count = 0;
      MPI_Recv(&count, 1, MPI_INT64_T, a_, kTag, world_.comm(), MPI_STATUS_IGNORE);
      if (count == 0) {
        return;
      }
      for (std::int64_t i = 0; i < count; ++i) {
        MPI_Recv(in_.data(), length(), MPI_BYTE, a_, kTag, world_.comm(), MPI_STATUS_IGNORE);
        MPI_Send(out_.data(), length(), MPI_BYTE, a_, kTag, world_.comm());
      }
    }
  }

  void tell(std::int64_t count) { MPI_Send(&count, 1, MPI_INT64_T, b_, kTag, world_.comm()); }

  [[nodiscard]] int length() const { return static_cast<int>(out_.size()); }

  [[nodiscard]] Outcome outcome() const {
    constexpr double kNano = 1e-9;
    Outcome outcome;
    outcome.metrics["rtt"] = {{"unit", "s"}, {"value", each_.quantile(0.5) * kNano}, {"n", trips_}};
    outcome.seconds = to_seconds(spent_);
    return outcome;
  }

  static constexpr Nanoseconds kBatch = 100 * kMicrosecond;

  const World& world_;
  int a_;
  int b_;
  double seconds_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  Histogram each_;
  std::int64_t trips_ = 0;
  Nanoseconds spent_ = 0;
};

class PingPongProbe : public Probe {
 public:
  PingPongProbe() : Probe("pingpong", "p2p", "A message there and one back") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMost = 1 << 30;
    return {{"bytes", ParamType::kInt, "B", 1, 0, kMost, "of a message"}};
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"rtt", "s", "lower", "there and back"}};
  }
  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    return std::make_unique<PingPong>(world, params, 0, world.size() - 1);
  }
};

const Registered<Probe> registered{std::make_unique<PingPongProbe>()};

}  // namespace
}  // namespace wulf::mpi
