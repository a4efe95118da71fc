#include <memory>
#include <optional>

#include "mpi/memory.hpp"
#include "mpi/messages.hpp"

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
class PingPong : public Replicate {
 public:
  PingPong(const World& world, const Json& params, std::pair<int, int> ends)
      : world_(world),
        ends_(ends),
        length_(length_of(params)),
        crew_(world, ends.first, {ends.second}),
        blocking_(Manner::of(params).mode == Manner::Mode::kBlocking) {
    const auto [a, b] = ends;
    if (world.rank() == a || world.rank() == b) {
      end_.emplace(world, Manner::of(params), params.at("bytes"), world.rank(), world.rank() == a ? b : a, 1);
    }
  }

  Outcome measure() override {
    Outcome mine;
    if (world_.rank() == ends_.first) {
      mine = lead();
    } else if (end_) {
      take_part();
    }
    Outcome outcome = handed_over(world_, ends_.first, mine);
    if (end_) {
      end_->check(world_);
    }
    return outcome;
  }

 private:
  Outcome lead() {
    const Batches batches = time_batches(crew_, {}, length_, [this](const Order& order) {
      blocking_ ? lead_blocking(Calls(world_, *end_), *end_, order.count) : lead_posted(*end_, order.count);
    });
    crew_.tell({0});
    Outcome outcome;
    outcome.metrics["rtt"] = batches.time();
    outcome.seconds = batches.spent();
    outcome.info = {{"ranks", {ends_.first, ends_.second}}, {"batch", batches.count()}};
    return outcome;
  }

  void take_part() {
    follow(
        crew_,
        [this](const Order&) {
          if (!blocking_) {
            end_->receives.start();
          }
        },
        [this](const Order& order) {
          blocking_ ? follow_blocking(Calls(world_, *end_), *end_, order.count)
                    : follow_posted(*end_, order.count);
        });
  }

  const World& world_;
  std::pair<int, int> ends_;
  Length length_;
  Crew crew_;
  bool blocking_;
  std::optional<End> end_;
};

class PingPongProbe : public Probe {
 public:
  PingPongProbe() : Probe("pingpong", "p2p", "A message there and one back") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return joined({pair_params(1), manner_params("blocking"), length_params("round trips")});
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"rtt", "s", "lower", "there and back"}};
  }
  [[nodiscard]] std::vector<int> ends(const World& world, const Json& params) const override {
    const auto [a, b] = pair_of(world, params);
    return {a, b};
  }
  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    const auto ends = pair_of(world, params);
    const Manner manner = Manner::of(params);
    const bool is_end = world.rank() == ends.first || world.rank() == ends.second;
    require_memory(world, is_end ? memory_of(manner, params.at("bytes"), 1) : 0);
    return std::make_unique<PingPong>(world, params, ends);
  }
};

const Registered<Probe> registered{std::make_unique<PingPongProbe>()};

}  // namespace
}  // namespace wulf::mpi
