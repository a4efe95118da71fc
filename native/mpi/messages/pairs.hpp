#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "mpi/messages/messages.hpp"
#include "mpi/probe.hpp"
#include "mpi/ranks/memory.hpp"
#include "mpi/time/batches.hpp"

namespace wulf::mpi {

using RankPair = std::pair<int, int>;

/// Exchanges, of a message or more each way, that are timed together.
///
/// Whoever begins sooner has its messages there before the other waits for them, and waits as much longer in
/// the next exchange: so an even number of them takes as long whoever began, an odd one does not.
inline constexpr int kTogether = 2;

/// The parameters a, b and bytes. `preset` is the default of bytes.
[[nodiscard]] std::vector<Param> pair_params(int preset);

/// The two ranks that a and b name. Throws bad-parameter where there is no such rank, or both are one.
[[nodiscard]] RankPair pair_of(const World& world, const Json& params);

/// The leader's outcome on rank 0, and an empty one on all others. Before anything is thrown: rank 0 waits.
[[nodiscard]] Outcome handed_over(const World& world, int leader, const Outcome& mine);

/// Collective: require_memory() of `bytes` at each end.
void require_memory_of(const World& world, const std::vector<RankPair>& pairs, std::uint64_t bytes);

/// A measurement between the two ranks of each pair. The first rank of the first pair leads; ranks in no pair
/// have nothing to do.
class Pairs : public Replicate {
 public:
  /// `width`: how many messages are under way at once.
  Pairs(const World& world, const Json& params, std::vector<RankPair> pairs, int width);

  Outcome measure() final;

 protected:
  /// Seconds and info; metrics are the probe's own.
  [[nodiscard]] Outcome outcome_of(const Batches& batches) const;

  [[nodiscard]] const World& world() const { return world_; }
  [[nodiscard]] const std::vector<RankPair>& pairs() const { return pairs_; }
  [[nodiscard]] const Length& length() const { return length_; }
  [[nodiscard]] const Crew& crew() const { return crew_; }
  [[nodiscard]] End& end() { return *end_; }
  [[nodiscard]] bool leads() const { return world_.rank() == pairs_.front().first; }
  /// Whether this rank is the first one of its pair.
  [[nodiscard]] bool is_first() const { return first_; }

 private:
  /// The leader's part: batches, and what they say.
  [[nodiscard]] virtual Outcome lead() = 0;
  /// What a follower has to do before the leader's clock runs.
  virtual void get_ready(const Order& /*order*/) {}
  /// A follower's part of a batch.
  virtual void take_part(const Order& order) = 0;
  /// After all: throws wrong-result where something else arrived than was sent.
  virtual void check() { end_->check(world_); }

  [[nodiscard]] static std::vector<int> followers_of(const std::vector<RankPair>& pairs);

  const World& world_;
  std::vector<RankPair> pairs_;
  Length length_;
  Crew crew_;
  std::unique_ptr<End> end_;  ///< null where the rank has nothing to do
  bool first_ = false;
};

/// A probe of the two ranks a and b; `T` is its replicate, made of world, params and their one pair.
template <typename T>
class PairProbe : public RankProbe {
 public:
  using RankProbe::RankProbe;

  [[nodiscard]] std::vector<int> ends(const World& world, const Json& params) const override {
    const auto [a, b] = pair_of(world, params);
    return {a, b};
  }
  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    const std::vector<RankPair> pairs{pair_of(world, params)};
    require_memory_of(world, pairs, memory_of(Manner::of(params), params.at("bytes").get<std::size_t>(), 1));
    return std::make_unique<T>(world, params, pairs);
  }
};

}  // namespace wulf::mpi
