#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "core/time/clock.hpp"

namespace wulf::net {

/// The four times of one exchange, each by the clock of the host where it was read (RFC 5905, section 8).
struct Stamps {
  Nanoseconds left;      ///< at the client
  Nanoseconds arrived;   ///< at the server
  Nanoseconds returned;  ///< at the server
  Nanoseconds back;      ///< at the client

  [[nodiscard]] Nanoseconds there() const noexcept { return arrived - left; }
  [[nodiscard]] Nanoseconds home() const noexcept { return back - returned; }
  /// The round trip without the server's own time.
  [[nodiscard]] Nanoseconds round() const noexcept { return there() + home(); }
};

/// How far apart the two hosts' clocks may be, and how that is known.
struct ClockBound {
  Nanoseconds bound;
  std::string source;  ///< "one clock", "clock discipline", or "two-way"
};

/// From what both hosts say of their clocks (describe_host_clock). Where neither one clock nor a discipline
/// vouches, the exchanges themselves do: each clock difference lies within half of the shortest round trip of
/// what that one shows.
[[nodiscard]] ClockBound clock_bound(const Json& client, const Json& server,
                                     const std::vector<Stamps>& exchanges);

/// One-way delays as medians, with their bound: "there", "home", "asymmetry" (there - home), "clock_error",
/// and "there_varies", "home_varies": the 99 % quantile over the least, which needs no clock in common. The
/// first three are null with a reason where the exchanges alone tell of the clocks, since then every path
/// looks symmetric.
[[nodiscard]] Json oneway_metrics(const std::vector<Stamps>& exchanges, const ClockBound& bound);

}  // namespace wulf::net
