#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/json.hpp"
#include "core/registry.hpp"
#include "replay/analysis/sensitivity.hpp"
#include "replay/network.hpp"

namespace wulf::replay {

// What several questions read from requests and write into answers.

[[nodiscard]] constexpr double to_seconds(Picoseconds time) { return static_cast<double>(time) * 1e-12; }

/// A whole number of JSON's own range, or, where 64 bits don't hold it or it is a fraction, the nearest
/// double.
[[nodiscard]] Json number(Fine numerator, Fine denominator = 1);

/// The request's field `name`, true or false. Throws bad-parameter for another type.
[[nodiscard]] bool flag_field(const Json& request, const std::string& name, bool preset);

/// The request's `network`. Errors as parse_network.
[[nodiscard]] Network network_field(const Json& request, std::uint32_t ranks);

/// The request's integer `name`, or a preset. Errors as int_field.
[[nodiscard]] std::int64_t int_or(const Json& request, const std::string& name, std::int64_t preset,
                                  std::int64_t min, std::int64_t max);

/// The one part of a kind that the request has a field of; `known` is given the names of all. Throws
/// bad-parameter where there is none, or several.
template <typename Kind>
[[nodiscard]] const Kind& one_of(const Json& request, std::vector<std::string>& known) {
  const Kind* chosen = nullptr;
  std::string names;
  for (const Kind* each : Registry<Kind>::all()) {
    known.push_back(each->name());
    names += (names.empty() ? "" : ", ") + each->name();
    if (request.contains(each->name())) {
      if (chosen != nullptr) {
        throw bad_parameter(each->name(),
                            "both '" + chosen->name() + "' and '" + each->name() + "' are given: leave one");
      }
      chosen = each;
    }
  }
  if (chosen == nullptr) {
    throw bad_parameter("", "one of these has to be given: " + names);
  }
  return *chosen;
}

}  // namespace wulf::replay
