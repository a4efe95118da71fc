#pragma once

#include <vector>

#include "core/json/json.hpp"
#include "core/session/probe.hpp"
#include "core/session/registry.hpp"

namespace wulf::node {

/// What can be measured of a host. An addition is one file in probes/. Its group is cpu, memory, os, noise or
/// power.
class HostProbe : public Probe {
 public:
  using Probe::Probe;

  /// Whether it works in a WorkingSet, so that a request may name one that others share.
  [[nodiscard]] virtual bool shares_set(const Json& /*params*/) const { return false; }

  /// One replicate with fresh memory (or a shared set that it has not had yet), files and threads, of about
  /// params["seconds"]. The calling thread is bound to params["cpu"]. What can't be measured here is a metric
  /// without a value, and its reason; Error is for requests that are wrong.
  [[nodiscard]] virtual Outcome measure(const Json& params) const = 0;

 private:
  /// `cpu` and `seconds`.
  [[nodiscard]] std::vector<Param> common_params() const override;
};

}  // namespace wulf::node
