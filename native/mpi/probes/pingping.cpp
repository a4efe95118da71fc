#include "core/json/error.hpp"
#include "mpi/messages/pairs.hpp"

namespace wulf::mpi {
namespace {

/// Both send at once, and wait for the other's message; or b sends as soon as it has been asked.
class PingPing : public Pairs {
 public:
  PingPing(const World& world, const Json& params, const std::vector<RankPair>& pairs)
      : Pairs(world, params, pairs, 1),
        blocking_(Manner::of(params).mode == Manner::Mode::kBlocking),
        staggered_(params.value("staggered", false)) {
    if (staggered_ && blocking_) {
      throw bad_parameter("staggered",
                          "a staggered crossing is of posted messages: mode must not be blocking");
    }
  }

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
      if (staggered_) {
        cross_staggered();
      } else {
        blocking_ ? cross() : cross_posted();
      }
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

  /// b's own send begins when b has surely answered the first one's: a word that was sent behind its request
  /// is there. So b's request finds the other's data on their way.
  void cross_staggered() {
    char word = 0;
    end().receives.start();
    if (is_first()) {
      end().sends.start();
      MPI_Send(&word, 1, MPI_BYTE, end().peer, kWord, world().comm());
    } else {
      MPI_Recv(&word, 1, MPI_BYTE, end().peer, kWord, world().comm(), MPI_STATUS_IGNORE);
      end().sends.start();
    }
    end().receives.wait();
    end().sends.wait();
  }

  bool blocking_;
  bool staggered_;
};

class PingPingProbe : public PairProbe<PingPing> {
 public:
  PingPingProbe() : PairProbe("pingping", "p2p", "Two messages that cross") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return joined({pair_params(1),
                   {{"staggered", ParamType::kBool, "", false, nullptr, nullptr,
                     "b sends when it has answered a's request: large messages take turns where answers wait "
                     "behind data"}},
                   manner_params("blocking", {"send"}),
                   length_params("crossings")});
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"time", "s", "lower", "until each end has sent its message and has the other's"}};
  }
};

const Registered<RankProbe> registered_ping_ping_probe{std::make_unique<PingPingProbe>()};

}  // namespace
}  // namespace wulf::mpi
