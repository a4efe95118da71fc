#include "mpi/pairs.hpp"

namespace wulf::mpi {
namespace {

/// Both send at once, and wait for the other's message.
class PingPing : public Pairs {
 public:
  PingPing(const World& world, const Json& params, const std::vector<RankPair>& pairs)
      : Pairs(world, params, pairs, 1), blocking_(Manner::of(params).mode == Manner::Mode::kBlocking) {}

 private:
  Outcome lead() override {
    const Batches batches =
        time_batches(crew(), {}, length(), [this](const Order& order) { take_part(order); });
    Outcome outcome = outcome_of(batches);
    outcome.metrics["time"] = batches.time(kTogether);
    return outcome;
  }

  void take_part(const Order& order) override {
    for (std::int64_t i = 0; i < kTogether * order.count; ++i) {
      blocking_ ? cross() : cross_posted();
    }
  }

  /// MPI_Isend, MPI_Recv, MPI_Wait, as the Intel MPI Benchmarks do: two MPI_Send might wait for each other.
  void cross() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Isend(end().out.next(), end().out.bytes(), MPI_BYTE, end().peer, kMessage, world().comm(), &request);
    end().receives.wait();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  void cross_posted() {
    end().receives.start();
    end().sends.start();
    end().receives.wait();
    end().sends.wait();
  }

  bool blocking_;
};

class PingPingProbe : public PairProbe<PingPing> {
 public:
  PingPingProbe() : PairProbe("pingping", "p2p", "Two messages that cross") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return joined({pair_params(1), manner_params("blocking", {"send"}), length_params("crossings")});
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"time", "s", "lower", "until each end has sent its message and has the other's"}};
  }
};

const Registered<Probe> registered_ping_ping_probe{std::make_unique<PingPingProbe>()};

}  // namespace
}  // namespace wulf::mpi
