#include "mpi/probe.hpp"

namespace wulf::mpi {

std::vector<Param> Probe::all_params() const {
  constexpr double kLongest = 600.0;
  std::vector<Param> list = params();
  list.push_back({"seconds", ParamType::kFloat, "s", 0.1, 0.0, kLongest, "how long to measure, about"});
  return list;
}

std::vector<int> Probe::ends(const World& world, const Json& /*params*/) const {
  return world.size() > 1 ? std::vector<int>{0, world.size() - 1} : std::vector<int>{0};
}

Json Probe::describe() const {
  Json json{{"name", name_},           {"group", group_},
            {"help", help_},           {"least_ranks", least_ranks()},
            {"params", Json::array()}, {"metrics", Json::array()}};
  describe_into(json, all_params(), metrics());
  return json;
}

}  // namespace wulf::mpi
