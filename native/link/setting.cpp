#include "link/setting.hpp"

#include "core/json/error.hpp"

namespace wulf::link {
namespace {

constexpr double kLongestDelay = 10;
constexpr double kLongestBatch = 1;

}  // namespace

const std::vector<Param>& setting_params() {
  static const std::vector<Param> params{
      {"delay", ParamType::kFloat, "s", 0.0, 0.0, kLongestDelay, "added between sending and arrival"},
      {"jitter", ParamType::kFloat, "s", 0.0, 0.0, kLongestDelay,
       "the delay is drawn evenly from delay - jitter to delay + jitter; frames keep their order"},
      {"rate", ParamType::kFloat, "bit/s", nullptr, 1000.0, 1e12,
       "at which frames are sent; null = no limit"},
      {"overhead", ParamType::kInt, "B", 0, 0, 1000,
       "what a frame takes on the line beside its own bytes: 24 for Ethernet's preamble, check sum and gap"},
      {"queue", ParamType::kInt, "1", 1000, 0, 1000000,
       "frames that may wait for their turn at the rate; beyond, they are dropped"},
      {"loss", ParamType::kFloat, "1", 0.0, 0.0, 1.0, "share of frames lost"},
      {"duplicate", ParamType::kFloat, "1", 0.0, 0.0, 1.0, "share of frames that arrive twice"},
      {"reorder", ParamType::kFloat, "1", 0.0, 0.0, 1.0,
       "share of frames that skip the delay, and so overtake those on the way"},
      {"mtu", ParamType::kInt, "B", 65521, 68, 65521,
       "bytes a frame may carry behind its Ethernet header; a longer one is dropped"},
      {"moderate", ParamType::kFloat, "s", 0.0, 0.0, kLongestBatch,
       "frames that arrive within this time of the first are handed over together, at its end"},
  };
  return params;
}

Setting parse_setting(const Json& given) {
  const Json values = resolve(setting_params(), given);
  Setting setting;
  setting.delay = from_seconds(values.at("delay").get<double>());
  setting.jitter = from_seconds(values.at("jitter").get<double>());
  setting.rate = optional_value<double>(values, "rate").value_or(0);
  setting.overhead = values.at("overhead").get<std::int64_t>();
  setting.queue = values.at("queue").get<std::int64_t>();
  setting.loss = values.at("loss").get<double>();
  setting.duplicate = values.at("duplicate").get<double>();
  setting.reorder = values.at("reorder").get<double>();
  setting.mtu = values.at("mtu").get<std::int64_t>();
  setting.moderate = from_seconds(values.at("moderate").get<double>());
  if (setting.jitter > setting.delay) {
    throw bad_parameter("jitter",
                        "jitter is more than the delay, so that frames would arrive before they left");
  }
  if (setting.reorder > 0 && setting.delay == 0) {
    throw bad_parameter("reorder", "reorder needs a delay: without one there is nothing to overtake");
  }
  return setting;
}

Json describe_setting(const Setting& setting) {
  return {{"delay", to_seconds(setting.delay)},
          {"jitter", to_seconds(setting.jitter)},
          {"rate", setting.rate > 0 ? Json(setting.rate) : Json(nullptr)},
          {"overhead", setting.overhead},
          {"queue", setting.queue},
          {"loss", setting.loss},
          {"duplicate", setting.duplicate},
          {"reorder", setting.reorder},
          {"mtu", setting.mtu},
          {"moderate", to_seconds(setting.moderate)}};
}

}  // namespace wulf::link
