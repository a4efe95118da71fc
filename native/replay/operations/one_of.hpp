#pragma once

#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "core/json/json.hpp"
#include "core/session/registry.hpp"

namespace wulf::replay {

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
