#include "node/probe.hpp"

namespace wulf::node {

std::vector<Param> HostProbe::common_params() const {
  constexpr int kLargestCpu = 8191;
  constexpr double kLongest = 60.0;
  return {
      {"cpu", ParamType::kInt, "", nullptr, 0, kLargestCpu, "the CPU that measures (default: the last one)"},
      {"seconds", ParamType::kFloat, "s", 0.02, 0.0, kLongest, "how long to measure, about"}};
}

}  // namespace wulf::node
