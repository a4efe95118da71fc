#include "core/json/params.hpp"

#include <algorithm>

#include "core/json/error.hpp"

namespace wulf {
namespace {

std::string type_name(ParamType type) {
  switch (type) {
    case ParamType::kInt:
      return "int";
    case ParamType::kFloat:
      return "float";
    case ParamType::kBool:
      return "bool";
    case ParamType::kStr:
      return "str";
  }
  return "";
}

bool has_type(const Json& value, ParamType type) {
  switch (type) {
    case ParamType::kInt:
      return value.is_integer();
    case ParamType::kFloat:
      return value.is_number();
    case ParamType::kBool:
      return value.is_boolean();
    case ParamType::kStr:
      return value.is_string();
  }
  return false;
}

std::string with_unit(const Json& limit, const std::string& unit) {
  return limit.dump() + (unit.empty() || unit == "1" ? "" : " " + unit);
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

void check_choice(const Param& param, const Json& value) {
  const auto& choices = param.choices;
  if (!choices.empty() &&
      std::find(choices.begin(), choices.end(), value.get<std::string>()) == choices.end()) {
    throw bad_parameter(param.name,
                        param.name + " is " + value.dump() + ", but must be one of " + joined(choices));
  }
}

void check(const Param& param, const Json& value) {
  if (value.is_null() && param.preset.is_null()) {
    return;
  }
  if (!has_type(value, param.type)) {
    throw bad_parameter(param.name, param.name + " is " + value.dump() + ", but must be of type " +
                                        type_name(param.type) + (param.preset.is_null() ? " or null" : ""));
  }
  if (!param.min.is_null() && value.get<double>() < param.min.get<double>()) {
    throw bad_parameter(param.name, param.name + " is " + value.dump() + ", but must be at least " +
                                        with_unit(param.min, param.unit));
  }
  if (!param.max.is_null() && value.get<double>() > param.max.get<double>()) {
    throw bad_parameter(param.name, param.name + " is " + value.dump() + ", but must be at most " +
                                        with_unit(param.max, param.unit));
  }
  check_choice(param, value);
}

}  // namespace

Json Param::describe() const {
  Json json{{"name", name}, {"type", type_name(type)}, {"unit", unit}, {"default", preset}};
  if (!min.is_null()) {
    json["min"] = min;
  }
  if (!max.is_null()) {
    json["max"] = max;
  }
  if (!choices.empty()) {
    json["choices"] = choices;
  }
  json["help"] = help;
  return json;
}

Json Metric::describe() const { return {{"name", name}, {"unit", unit}, {"better", better}, {"help", help}}; }

void describe_into(Json& part, const std::vector<Param>& params, const std::vector<Metric>& metrics) {
  part["params"] = Json::array();
  for (const Param& param : params) {
    part["params"].push_back(param.describe());
  }
  part["metrics"] = Json::array();
  for (const Metric& metric : metrics) {
    part["metrics"].push_back(metric.describe());
  }
}

Json resolve(const std::vector<Param>& params, const Json& given) {
  if (!given.is_object()) {
    throw bad_parameter("params", "params is " + given.dump() + ", but must be an object");
  }
  std::vector<std::string> names;
  Json values = Json::object();
  for (const Param& param : params) {
    names.push_back(param.name);
    const Json* found = given.find(param.name);
    if (found != nullptr) {
      check(param, *found);
    }
    values[param.name] = found == nullptr ? param.preset : *found;
  }
  refuse_unknown_fields(given, names);
  return values;
}

void refuse_unknown_fields(const Json& object, const std::vector<std::string>& known) {
  for (const auto& [name, value] : object.members()) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      throw bad_parameter(name, "there is no '" + name + "' here; known: " + joined(known));
    }
  }
}

std::string text_field(const Json& object, const std::string& name) {
  const Json* found = object.find(name);
  if (found == nullptr) {
    throw bad_parameter(name, "'" + name + "' is missing: give a string");
  }
  if (!found->is_string()) {
    throw bad_parameter(name, name + " is " + found->dump() + ", but must be a string");
  }
  return found->get<std::string>();
}

std::int64_t int_field(const Json& object, const std::string& name, std::int64_t min, std::int64_t max) {
  const Json* found = object.find(name);
  if (found == nullptr) {
    throw bad_parameter(name, "'" + name + "' is missing: give an integer");
  }
  const Param limits{name, ParamType::kInt, "", min, min, max, ""};
  check(limits, *found);
  return found->get<std::int64_t>();
}

std::int64_t int_or(const Json& request, const std::string& name, std::int64_t preset, std::int64_t min,
                    std::int64_t max) {
  return request.contains(name) ? int_field(request, name, min, max) : preset;
}

bool flag_field(const Json& request, const std::string& name, bool preset) {
  const Json* found = request.find(name);
  if (found == nullptr) {
    return preset;
  }
  if (!found->is_boolean()) {
    throw bad_parameter(name, name + " is " + found->dump() + ", but must be true or false");
  }
  return found->get<bool>();
}

}  // namespace wulf
