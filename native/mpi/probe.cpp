#include "mpi/probe.hpp"

#include <string>

namespace wulf::mpi {

std::vector<Param> RankProbe::common_params() const {
  constexpr double kLongest = 600.0;
  return {{"seconds", ParamType::kFloat, "s", 0.1, 0.0, kLongest, "how long to measure, about"}};
}

Json RankProbe::settle(const Json& given, int ranks) const {
  if (ranks < least_ranks()) {
    throw bad_parameter("probe", name() + " needs " + std::to_string(least_ranks()) +
                                     " ranks, and there are " + std::to_string(ranks));
  }
  return Probe::settle(given);
}

std::vector<int> RankProbe::ends(const World& world, const Json& /*params*/) const {
  return world.size() > 1 ? std::vector<int>{0, world.size() - 1} : std::vector<int>{0};
}

}  // namespace wulf::mpi
