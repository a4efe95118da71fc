#include <algorithm>

#include "mpi/messages/pairs.hpp"
#include "mpi/plain/messages/layout.hpp"
#include "mpi/plain/time/spin.hpp"

namespace wulf::mpi {
namespace {

/// A message each way, computation, and both at once: how much of the first hides behind the second.
///
/// The three are timed in turns, so that drift hits all alike (Netgauge; Intel MPI Benchmarks' IMB-NBC).
class Overlap : public Pairs {
 public:
  Overlap(const World& world, const Json& params, const std::vector<RankPair>& pairs)
      : Pairs(world, params, pairs, 1),
        compute_(optional_value<double>(params, "compute")),
        tests_(params.at("tests").get<int>()) {}

 private:
  static constexpr std::int64_t kComm = 0;
  static constexpr std::int64_t kCompute = 1;
  static constexpr std::int64_t kBoth = 2;

  Outcome lead() override {
    const auto body = [this](const Order& order) { take_part(order); };
    const std::int64_t count = calibrate(crew(), {0, kComm}, kBatch, body);
    const std::int64_t steps = steps_for(compute_.value_or(comm_alone(count)));
    Batches comm;
    Batches compute;
    Batches both;
    std::vector<double> shares;
    const Nanoseconds end = now() + from_seconds(length().seconds);
    while (shares.empty() || now() < end) {
      comm.add(timed(crew(), {count, kComm, steps}, body), kTogether * count);
      compute.add(timed(crew(), {count, kCompute, steps}, body), kTogether * count);
      both.add(timed(crew(), {count, kBoth, steps}, body), kTogether * count);
      shares.push_back(
          overlap_share(comm.each().back(), compute.each().back(), both.each().back()).value_or(0));
    }
    Outcome outcome = outcome_of(both);
    outcome.metrics["overlap"] =
        summary("1", std::move(shares), static_cast<std::uint64_t>(both.operations()));
    outcome.metrics["comm"] = comm.time();
    outcome.metrics["compute"] = compute.time();
    outcome.metrics["both"] = both.time();
    return outcome;
  }

  /// Seconds of one exchange, the median of some batches.
  double comm_alone(std::int64_t count) {
    constexpr int kTries = 5;
    Batches batches;
    for (int i = 0; i < kTries; ++i) {
      const auto body = [this](const Order& order) { take_part(order); };
      batches.add(timed(crew(), {count, kComm}, body), kTogether * count);
    }
    return batches.time().at("value").get<double>();
  }

  [[nodiscard]] static std::int64_t steps_for(double seconds) {
    return std::max<std::int64_t>(static_cast<std::int64_t>(seconds * spin_rate()), 1);
  }

  void take_part(const Order& order) override {
    for (std::int64_t i = 0; i < kTogether * order.count; ++i) {
      if (order.what != kCompute) {
        end().receives.start();
        end().sends.start();
      }
      if (order.what != kComm) {
        compute(order.extra, order.what == kBoth ? tests_ : 0);
      }
      if (order.what != kCompute) {
        end().sends.wait();
        end().receives.wait();
      }
    }
  }

  /// Computes so many steps, with MPI_Test after each of `tests` + 1 parts but the last.
  void compute(std::int64_t steps, int tests) {
    const std::int64_t part = steps / (tests + 1);
    for (int i = 0; i < tests; ++i) {
      state_ = spin(part, state_);
      end().sends.test();
      end().receives.test();
    }
    state_ = spin(steps - (part * tests), state_);
  }

  std::optional<double> compute_;
  int tests_;
  volatile std::uint64_t state_ = 1;
};

class OverlapProbe : public PairProbe<Overlap> {
 public:
  OverlapProbe() : PairProbe("overlap", "p2p", "Communication that hides behind computation") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kBytes = 1 << 16;
    constexpr int kMostTests = 1 << 16;
    constexpr double kLeast = 1e-9;
    constexpr double kMost = 10.0;
    std::vector<Param> manner = manner_params("nonblocking", {"send"});
    manner.front().choices = {"nonblocking", "persistent"};  // a blocking call leaves nothing to overlap
    manner.front().help = "MPI_Isend and MPI_Irecv; or requests made once";
    return joined({pair_params(kBytes),
                   {{"compute", ParamType::kFloat, "s", nullptr, kLeast, kMost,
                     "computation beside each exchange; chosen: as long as the exchange takes alone"},
                    {"tests", ParamType::kInt, "1", 0, 0, kMostTests,
                     "calls of MPI_Test during it, which let MPI get on"}},
                   manner});
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"overlap", "1", "higher", "share of the shorter one that both at once save"},
            {"comm", "s", "lower", "a message each way, alone"},
            {"compute", "s", "lower", "the computation alone"},
            {"both", "s", "lower", "both at once"}};
  }
};

const Registered<RankProbe> registered_overlap_probe{std::make_unique<OverlapProbe>()};

}  // namespace
}  // namespace wulf::mpi
