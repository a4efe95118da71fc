#include "mpi/messages/pairs.hpp"

namespace wulf::mpi {
namespace {

/// What the blocking loops need, in registers: they hold nothing but the two calls.
struct Calls {
  explicit Calls(const World& world, End& end)
      : send(send_calls(end.manner.send).blocking),
        comm(world.comm()),
        peer(end.peer),
        source(end.manner.any ? MPI_ANY_SOURCE : end.peer),
        bytes(end.out.bytes()) {}

  void send_from(const std::byte* message) const { send(message, bytes, MPI_BYTE, peer, kMessage, comm); }
  void receive_to(std::byte* message) const {
    MPI_Recv(message, bytes, MPI_BYTE, source, kMessage, comm, MPI_STATUS_IGNORE);
  }

  decltype(SendCalls::blocking) send;
  MPI_Comm comm;
  int peer;
  int source;
  int bytes;
};

void lead_blocking(const Calls calls, End& end, std::int64_t count) {
  if (end.manner.cold) {
    for (std::int64_t i = 0; i < count; ++i) {
      calls.send_from(end.out.next());
      calls.receive_to(end.in.next());
    }
    return;
  }
  const std::byte* out = end.out.next();
  std::byte* in = end.in.next();
  for (std::int64_t i = 0; i < count; ++i) {
    calls.send_from(out);
    calls.receive_to(in);
  }
}

void follow_blocking(const Calls calls, End& end, std::int64_t count) {
  if (end.manner.cold) {
    for (std::int64_t i = 0; i < count; ++i) {
      calls.receive_to(end.in.next());
      calls.send_from(end.out.next());
    }
    return;
  }
  const std::byte* out = end.out.next();
  std::byte* in = end.in.next();
  for (std::int64_t i = 0; i < count; ++i) {
    calls.receive_to(in);
    calls.send_from(out);
  }
}

void lead_posted(End& end, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    end.receives.start();
    end.sends.start();
    end.sends.wait();
    end.receives.wait();
  }
}

/// The first receive is posted already. The next one is before the answer goes out, as a ready send needs it.
void follow_posted(End& end, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    end.receives.wait();
    if (i + 1 < count) {
      end.receives.start();
    }
    end.sends.start();
    end.sends.wait();
  }
}

/// One message there and one back, `count` times a batch.
class PingPong : public Pairs {
 public:
  PingPong(const World& world, const Json& params, const std::vector<RankPair>& pairs)
      : Pairs(world, params, pairs, 1), blocking_(Manner::of(params).mode == Manner::Mode::kBlocking) {}

 private:
  Outcome lead() override {
    const Batches batches = time_batches(crew(), {}, length(), [this](const Order& order) {
      blocking_ ? lead_blocking(Calls(world(), end()), end(), order.count) : lead_posted(end(), order.count);
    });
    Outcome outcome = outcome_of(batches);
    outcome.metrics["rtt"] = batches.time();
    return outcome;
  }

  void get_ready(const Order& /*order*/) override { end().receives.start(); }

  void take_part(const Order& order) override {
    blocking_ ? follow_blocking(Calls(world(), end()), end(), order.count)
              : follow_posted(end(), order.count);
  }

  bool blocking_;
};

class PingPongProbe : public PairProbe<PingPong> {
 public:
  PingPongProbe() : PairProbe("pingpong", "p2p", "A message there and one back") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return joined({pair_params(1), manner_params("blocking"), length_params("round trips")});
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"rtt", "s", "lower", "there and back"}};
  }
};

const Registered<RankProbe> registered_ping_pong_probe{std::make_unique<PingPongProbe>()};

}  // namespace
}  // namespace wulf::mpi
