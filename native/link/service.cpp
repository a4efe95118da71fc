#include "link/service.hpp"

#include <random>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "link/calibrate.hpp"
#include "link/setting.hpp"

namespace wulf::link {
namespace {

/// One end, {"netns": path, "device": name}, made.
File open_end(const Json& request, const std::string& field) {
  const Json* found = request.find(field);
  if (found == nullptr || !found->is_object()) {
    throw bad_parameter(
        field, field + R"( must be an object such as {"netns": "/proc/1/ns/net", "device": "eth0"})");
  }
  refuse_unknown_fields(*found, {"netns", "device"});
  return open_tap(text_field(*found, "netns"), text_field(*found, "device"));
}

std::vector<Direction> directions(const Json& request) {
  const std::string text = request.contains("direction") ? text_field(request, "direction") : "both";
  if (text == "both") {
    return {Direction::kOut, Direction::kIn};
  }
  if (text != "out" && text != "in") {
    throw bad_parameter("direction", "direction is '" + text + "', but must be out, in or both");
  }
  return {text == "out" ? Direction::kOut : Direction::kIn};
}

std::uint64_t seed_of(const Json& request) {
  if (request.contains("seed")) {
    return static_cast<std::uint64_t>(int_field(request, "seed", 0, INT64_MAX));
  }
  std::random_device source;
  constexpr unsigned kHalf = 32;
  return (std::uint64_t{source()} << kHalf) | source();
}

}  // namespace

std::map<std::string, Operation> Service::operations() {
  return {{"open", {[this](const Json& request) { return open(request); }}},
          {"set", {[this](const Json& request) { return set(request); }}},
          {"close", {[this](const Json& request) { return close(request); }}},
          {"status", {[this](const Json& request) { return status(request); }}},
          {"calibrate", {calibrate, /*lengthy=*/true}}};
}

Json Service::describe() {
  Json json{{"params", Json::array()}};
  for (const Param& param : setting_params()) {
    json["params"].push_back(param.describe());
  }
  return json;
}

Relay& Service::relay() {
  const std::lock_guard lock(mutex_);
  if (!relay_) {
    relay_ = std::make_unique<Relay>();
  }
  return *relay_;
}

Json Service::open(const Json& request) {
  refuse_unknown_fields(request, {"id", "op", "name", "node", "port", "seed"});
  const std::string name = text_field(request, "name");
  File node = open_end(request, "node");
  File port = open_end(request, "port");
  relay().add(name, std::move(node), std::move(port), seed_of(request));
  return Json::object();
}

Json Service::set(const Json& request) {
  refuse_unknown_fields(request, {"id", "op", "name", "direction", "params"});
  const std::string name = text_field(request, "name");
  const Setting setting = parse_setting(request.value("params", Json::object()));
  for (const Direction direction : directions(request)) {
    relay().set(name, direction, setting);
  }
  return {{"setting", describe_setting(setting)}};
}

Json Service::close(const Json& request) {
  refuse_unknown_fields(request, {"id", "op", "name"});
  relay().remove(text_field(request, "name"));
  return Json::object();
}

Json Service::status(const Json& request) {
  refuse_unknown_fields(request, {"id", "op"});
  return relay().status();
}

}  // namespace wulf::link
