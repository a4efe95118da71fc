#pragma once

#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "core/json/params.hpp"
#include "core/session/registry.hpp"

namespace wulf::node {

/// What one replicate gave.
struct Outcome {
  Json metrics = Json::object();  ///< name → what Samples::metric or no_value made
  double seconds = 0;             ///< the measured time, warm-up excluded
  Json info = Json::object();     ///< what was really used: pages, threads, instruction set …
};

/// One thing that can be measured of a host. An addition is one file in probes/ that registers itself.
class Probe {
 public:
  /// `group` is cpu, memory, os, noise or power.
  Probe(std::string name, std::string group, std::string help)
      : name_(std::move(name)), group_(std::move(group)), help_(std::move(help)) {}
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;
  Probe(Probe&&) = delete;
  Probe& operator=(Probe&&) = delete;
  virtual ~Probe() = default;

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] Json describe() const;

  /// The parameters of this probe alone; `cpu` and `seconds` are added by all_params().
  [[nodiscard]] virtual std::vector<Param> params() const = 0;
  [[nodiscard]] std::vector<Param> all_params() const;

  /// The first one decides when it has been measured long enough.
  [[nodiscard]] virtual std::vector<Metric> metrics() const = 0;

  /// Whether it works in a WorkingSet, so that a request may name one that others share.
  [[nodiscard]] virtual bool shares_set(const Json& /*params*/) const { return false; }

  /// One replicate with fresh memory (or a shared set that it has not had yet), files and threads, of about
  /// params["seconds"]. The calling thread is bound to params["cpu"]. What can't be measured here is a metric
  /// without a value, and its reason; Error is for requests that are wrong.
  [[nodiscard]] virtual Outcome measure(const Json& params) const = 0;

 private:
  std::string name_;
  std::string group_;
  std::string help_;
};

}  // namespace wulf::node
