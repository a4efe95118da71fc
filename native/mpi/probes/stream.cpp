#include "mpi/messages/pairs.hpp"

namespace wulf::mpi {
namespace {

/// More ranks than two are told one after another when to begin: a batch is so long that it does not show.
constexpr Nanoseconds kLongBatch = 10 * kBatch;

int width_of(const Json& params) { return params.at("window").get<int>(); }
bool both_of(const Json& params) { return params.value("both", false); }

/// Throws bad-parameter where there are not so many pairs, or where the pair is named beside them.
std::vector<RankPair> pairs_of(const World& world, const Json& params) {
  const int most = world.size() / 2;
  const int count = optional_value<int>(params, "pairs").value_or(most);
  if (count > most) {
    throw bad_parameter("pairs", std::to_string(world.size()) + " ranks make " + std::to_string(most) +
                                     " pairs, not " + std::to_string(count));
  }
  if (count == 1) {
    return {pair_of(world, params)};
  }
  if (params.at("a") != 0 || !params.at("b").is_null()) {
    throw bad_parameter("pairs",
                        "a and b name one pair; several pairs are the first half of the ranks with "
                        "the second");
  }
  return halves(world.size(), count);
}

/// Windows of messages one way, each acknowledged when the last one is there; or both ways at once, two
/// windows together.
class Stream : public Pairs {
 public:
  Stream(const World& world, const Json& params, const std::vector<RankPair>& pairs)
      : Pairs(world, params, pairs, width_of(params)),
        blocking_(Manner::of(params).mode == Manner::Mode::kBlocking),
        ready_(Manner::of(params).send == "ready"),
        both_(both_of(params)),
        width_(width_of(params)) {}

 private:
  Outcome lead() override {
    Length length = this->length();
    length.batch = pairs().size() > 1 ? kLongBatch : kBatch;
    const Batches batches = time_batches(crew(), {}, length, [this](const Order& order) { lead_all(order); });
    const double messages = width_ * static_cast<double>(pairs().size()) * (both_ ? 2 * kTogether : 1);
    Outcome outcome = outcome_of(batches);
    outcome.metrics["rate"] = batches.rate("Hz", messages);
    outcome.metrics["throughput"] = end().out.bytes() > 0 ? batches.rate("B/s", messages * end().out.bytes())
                                                          : no_value("B/s", "messages of 0 B carry nothing");
    outcome.info["window"] = width_;
    return outcome;
  }

  /// The clock stops when the last pair's last message was acknowledged.
  void lead_all(const Order& order) {
    for (std::size_t i = 1; i < pairs().size(); ++i) {
      MPI_Send(nullptr, 0, MPI_BYTE, pairs()[i].first, kGo, world().comm());
    }
    send_windows(order.count);
    for (std::size_t i = 1; i < pairs().size(); ++i) {
      MPI_Recv(nullptr, 0, MPI_BYTE, pairs()[i].first, kFinished, world().comm(), MPI_STATUS_IGNORE);
    }
  }

  void get_ready(const Order& /*order*/) override {
    if (!both_ && !is_first()) {
      end().receives.start();
    }
  }

  void take_part(const Order& order) override {
    if (!is_first()) {
      both_ ? exchange_windows(order.count) : receive_windows(order.count);
      return;
    }
    const int leader = pairs().front().first;
    MPI_Recv(nullptr, 0, MPI_BYTE, leader, kGo, world().comm(), MPI_STATUS_IGNORE);
    send_windows(order.count);
    MPI_Send(nullptr, 0, MPI_BYTE, leader, kFinished, world().comm());
  }

  void send_windows(std::int64_t count) {
    if (both_) {
      exchange_windows(count);
      return;
    }
    for (std::int64_t i = 0; i < count; ++i) {
      end().sends.start();
      end().sends.wait();
      MPI_Recv(nullptr, 0, MPI_BYTE, end().peer, kDone, world().comm(), MPI_STATUS_IGNORE);
    }
  }

  /// The next window's receives are posted once the last one's is acknowledged: the sender waits for nothing
  /// else. Ready sends alone need them before.
  void receive_windows(std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      end().receives.wait();
      const bool more = i + 1 < count;
      if (more && ready_) {
        end().receives.start();
      }
      MPI_Send(nullptr, 0, MPI_BYTE, end().peer, kDone, world().comm());
      if (more && !ready_) {
        end().receives.start();
      }
    }
  }

  void exchange_windows(std::int64_t count) {
    for (std::int64_t i = 0; i < kTogether * count; ++i) {
      if (blocking_) {
        exchange_blocking();
      } else {
        end().receives.start();
        end().sends.start();
        end().sends.wait();
        end().receives.wait();
      }
    }
  }

  /// Blocking sends of both sides might wait for each other; MPI_Sendrecv does not.
  void exchange_blocking() {
    End& end = this->end();
    const int source = end.manner.any ? MPI_ANY_SOURCE : end.peer;
    for (int i = 0; i < width_; ++i) {
      MPI_Sendrecv(end.out.next(), end.out.bytes(), MPI_BYTE, end.peer, kMessage, end.in.next(),
                   end.in.bytes(), MPI_BYTE, source, kMessage, world().comm(), MPI_STATUS_IGNORE);
    }
  }

  /// One way, the sender received nothing.
  void check() override {
    if (both_ || !is_first()) {
      end().check(world());
    }
  }

  static constexpr int kGo = 12;
  static constexpr int kFinished = 13;

  bool blocking_;
  bool ready_;
  bool both_;
  int width_;
};

class WindowProbe : public RankProbe {
 public:
  using RankProbe::RankProbe;

  [[nodiscard]] std::vector<int> ends(const World& world, const Json& params) const override {
    const auto [first, second] = pairs_of(world, params).front();
    return {first, second};
  }
  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    const std::vector<RankPair> pairs = pairs_of(world, params);
    const Manner manner = Manner::of(params);
    if (both_of(params) &&
        (manner.send == "ready" || (manner.mode == Manner::Mode::kBlocking && manner.send != "standard"))) {
      throw bad_parameter("send", manner.send +
                                      " sends both ways: a ready send needs a receive that is posted "
                                      "already, and MPI_Sendrecv has standard sends alone");
    }
    require_memory_of(world, pairs,
                      memory_of(manner, params.at("bytes").get<std::size_t>(), width_of(params)));
    return std::make_unique<Stream>(world, params, pairs);
  }

 protected:
  [[nodiscard]] static std::vector<Param> window_params(int bytes, int window, const Json& pairs) {
    constexpr int kMost = 1 << 16;
    return joined({pair_params(bytes),
                   {{"window", ParamType::kInt, "1", window, 1, kMost, "messages before an acknowledgement"},
                    {"pairs", ParamType::kInt, "1", pairs, 1, nullptr,
                     "1: a to b; more: ranks of the first half to those of the second; chosen: all"}}});
  }
};

class StreamProbe : public WindowProbe {
 public:
  StreamProbe() : WindowProbe("stream", "p2p", "As many messages as go through, one way or both ways") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kBytes = 1 << 20;
    constexpr int kWindow = 64;
    return joined({window_params(kBytes, kWindow, 1),
                   {{"both", ParamType::kBool, "", false, nullptr, nullptr, "both ends send at once"}},
                   manner_params("nonblocking"),
                   length_params("windows")});
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"throughput", "B/s", "higher", "what has arrived and was acknowledged, all directions together"},
            {"rate", "Hz", "higher", "messages, all directions together"}};
  }
};

class MessageRateProbe : public WindowProbe {
 public:
  MessageRateProbe() : WindowProbe("message-rate", "p2p", "Short messages of many pairs of ranks at once") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kBytes = 8;
    constexpr int kWindow = 64;
    return joined(
        {window_params(kBytes, kWindow, nullptr), manner_params("nonblocking"), length_params("windows")});
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"rate", "Hz", "higher", "messages of all pairs together"},
            {"throughput", "B/s", "higher", "what has arrived and was acknowledged, of all pairs together"}};
  }
};

const Registered<RankProbe> stream{std::make_unique<StreamProbe>()};
const Registered<RankProbe> message_rate{std::make_unique<MessageRateProbe>()};

}  // namespace
}  // namespace wulf::mpi
