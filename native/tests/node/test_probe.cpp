#include <set>
#include <string>

#include "core/session/registry.hpp"
#include "node/probe.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;
using wulf::Registry;

TEST_CASE("every probe says what it is, and names no parameter or metric twice") {
  for (const HostProbe* probe : Registry<HostProbe>::all()) {
    INFO(probe->name());
    const wulf::Json described = probe->describe();
    CHECK(!described.at("help").get<std::string>().empty());
    CHECK(!described.at("metrics").empty());
    const std::set<std::string> groups{"cpu", "memory", "os", "noise", "power"};
    CHECK(groups.count(described.at("group").get<std::string>()) == 1);
    std::set<std::string> names;
    for (const auto& param : described.at("params")) {
      CHECK(names.insert(param.at("name").get<std::string>()).second);
    }
    for (const auto& metric : described.at("metrics")) {
      CHECK(names.insert(metric.at("name").get<std::string>()).second);
    }
  }
}

}  // namespace
