#include "node/probe.hpp"

namespace wulf::node {

std::vector<Param> Probe::all_params() const {
  constexpr int kLargestCpu = 8191;
  constexpr double kLongest = 60.0;
  std::vector<Param> list = params();
  list.push_back(
      {"cpu", ParamType::kInt, "", nullptr, 0, kLargestCpu, "the CPU that measures (default: the last one)"});
  list.push_back({"seconds", ParamType::kFloat, "s", 0.02, 0.0, kLongest, "how long to measure, about"});
  return list;
}

Json Probe::describe() const {
  Json json{{"name", name_}, {"group", group_}, {"help", help_}};
  describe_into(json, all_params(), metrics());
  return json;
}

}  // namespace wulf::node
