#pragma once

#include <string>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "core/session/registry.hpp"

namespace wulf::net {

/// The transport or pattern that the request's field names. Throws bad-parameter, naming those that exist.
template <typename Kind>
[[nodiscard]] const Kind& find_part(const Json& request, const std::string& field) {
  const std::string name = text_field(request, field);
  if (const Kind* found = Registry<Kind>::find(name)) {
    return *found;
  }
  std::string known;
  for (const Kind* each : Registry<Kind>::all()) {
    known += (known.empty() ? "" : ", ") + each->name();
  }
  throw bad_parameter(field, "there is no " + field + " '" + name + "'; known: " + known);
}

}  // namespace wulf::net
