#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/json/json.hpp"

namespace wulf {

enum class ParamType { kInt, kFloat, kBool, kStr };

/// One parameter of a probe: the source of its command-line option, its validation and its documentation.
struct Param {
  std::string name;
  ParamType type;
  std::string unit;  ///< SI, or "1"; empty where a unit has no meaning
  Json preset;       ///< the default; null = the program chooses, as `help` says
  Json min;          ///< null = no limit
  Json max;
  std::string help;
  // The braces let a parameter without choices leave them out.
  // NOLINTNEXTLINE(readability-redundant-member-init)
  std::vector<std::string> choices{};  ///< of a text; empty = any

  /// As `--describe` prints it.
  [[nodiscard]] Json describe() const;
};

/// One metric of a probe; `better` is "lower" or "higher".
struct Metric {
  std::string name;
  std::string unit;
  std::string better;
  std::string help;

  [[nodiscard]] Json describe() const;
};

/// Adds what `--describe` says of a part's parameters and metrics: "params" and "metrics".
void describe_into(Json& part, const std::vector<Param>& params, const std::vector<Metric>& metrics);

/// Every parameter with its given or default value. Throws bad-parameter for an unknown name, a wrong type or
/// a value out of limits; the message names limit and value.
[[nodiscard]] Json resolve(const std::vector<Param>& params, const Json& given);

/// The value of a resolved parameter that may be null.
template <typename T>
[[nodiscard]] std::optional<T> optional_value(const Json& resolved, const std::string& name) {
  const Json& value = resolved.at(name);
  return value.is_null() ? std::nullopt : std::optional<T>(value.get<T>());
}

/// Throws bad-parameter where `object` has a field that `known` does not name.
void refuse_unknown_fields(const Json& object, const std::vector<std::string>& known);

/// The request's text field `name`. Throws bad-parameter where it is missing or of another type.
[[nodiscard]] std::string text_field(const Json& object, const std::string& name);

/// The request's integer field `name` within [min, max]; errors as text_field.
[[nodiscard]] std::int64_t int_field(const Json& object, const std::string& name, std::int64_t min,
                                     std::int64_t max);

/// As above, or a preset where the request has no such field.
[[nodiscard]] std::int64_t int_or(const Json& request, const std::string& name, std::int64_t preset,
                                  std::int64_t min, std::int64_t max);

/// The request's field `name`, true or false. Throws bad-parameter for another type.
[[nodiscard]] bool flag_field(const Json& request, const std::string& name, bool preset);

}  // namespace wulf
