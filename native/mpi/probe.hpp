#pragma once

#include <memory>
#include <vector>

#include "core/json/json.hpp"
#include "core/session/probe.hpp"
#include "core/session/registry.hpp"
#include "mpi/ranks/world.hpp"

namespace wulf::mpi {

/// One replicate, prepared: its buffers, requests, windows, communicators. They go with it.
class Replicate {
 public:
  Replicate() = default;
  Replicate(const Replicate&) = delete;
  Replicate& operator=(const Replicate&) = delete;
  Replicate(Replicate&&) = delete;
  Replicate& operator=(Replicate&&) = delete;
  virtual ~Replicate() = default;

  /// Collective. It must end on every rank or on none, so nothing may be thrown while messages are under
  /// way; a wrong result found afterwards is Error("wrong-result", which rank got what for what), thrown on
  /// any rank. Rank 0's outcome is the answer; what other ranks know, a probe sends there itself.
  [[nodiscard]] virtual Outcome measure() = 0;
};

/// What can be measured of an MPI. An addition is one file in probes/. Its group is p2p, collective,
/// onesided, pattern or farm.
class RankProbe : public Probe {
 public:
  using Probe::Probe;

  /// The least number of ranks that it can do something with.
  [[nodiscard]] virtual int least_ranks() const { return 2; }

  /// Every parameter with its value. Throws bad-parameter, also where there are too few ranks.
  [[nodiscard]] Json settle(const Json& given, int ranks) const;

  /// The ranks whose hosts' counters belong to the result, first `client`, then `server`.
  [[nodiscard]] virtual std::vector<int> ends(const World& world, const Json& params) const;

  /// Collective, on every rank with the same params. Error, on any rank, is for requests that are wrong and
  /// for memory that is not there; the others then hear of it.
  [[nodiscard]] virtual std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const = 0;

 private:
  /// `seconds`.
  [[nodiscard]] std::vector<Param> common_params() const override;
  [[nodiscard]] Json needs() const override { return {{"least_ranks", least_ranks()}}; }
};

}  // namespace wulf::mpi
