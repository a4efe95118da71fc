#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "mpi/ranks/world.hpp"

namespace wulf::mpi {

/// What one replicate gave. Rank 0's is the answer; what other ranks know, a probe sends there itself.
struct Outcome {
  Json metrics = Json::object();  ///< name → {"unit", "value", "n", …}, or a reason in the value's place
  double seconds = 0;             ///< the measured time, warm-up excluded
  Json info = Json::object();     ///< what was really used: ranks, algorithm, clock error …
};

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
  /// any rank.
  [[nodiscard]] virtual Outcome measure() = 0;
};

/// One thing that can be measured of an MPI. An addition is one file in probes/ that registers itself.
class Probe {
 public:
  /// `group` is p2p, collective, onesided, pattern or farm.
  Probe(std::string name, std::string group, std::string help)
      : name_(std::move(name)), group_(std::move(group)), help_(std::move(help)) {}
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  Probe(Probe&&) = delete;
  Probe& operator=(Probe&&) = delete;
  virtual ~Probe() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Json describe() const;

  /// The parameters of this probe alone; `seconds` is added by all_params().
  [[nodiscard]] virtual std::vector<Param> params() const = 0;
  [[nodiscard]] std::vector<Param> all_params() const;

  /// The first one decides when it has been measured long enough.
  [[nodiscard]] virtual std::vector<Metric> metrics() const = 0;

  /// The least number of ranks that it can do something with.
  [[nodiscard]] virtual int least_ranks() const { return 2; }

  /// The ranks whose hosts' counters belong to the result, first `client`, then `server`.
  [[nodiscard]] virtual std::vector<int> ends(const World& world, const Json& params) const;

  /// Collective, on every rank with the same params. Error, on any rank, is for requests that are wrong and
  /// for memory that is not there; the others then hear of it.
  [[nodiscard]] virtual std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const = 0;

 private:
  std::string name_;
  std::string group_;
  std::string help_;
};

}  // namespace wulf::mpi
