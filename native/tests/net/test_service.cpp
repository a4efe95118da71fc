#include <string>

#include "net/service.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

TEST_CASE("every part describes itself whole") {
  const Json description = Service::describe();
  for (const Json& pattern : description["patterns"]) {
    CHECK_FALSE(pattern["transports"].empty());
    for (const Json& param : pattern["params"]) {
      INFO(param.dump());
      CHECK_FALSE(param["help"].get<std::string>().empty());
      CHECK(param.contains("default"));
      CHECK(pattern["name"].get<std::string>().size() <= Header::kLongestPattern);
    }
    for (const Json& metric : pattern["metrics"]) {
      INFO(metric.dump());
      CHECK((metric["better"] == "lower" || metric["better"] == "higher"));
      CHECK_FALSE(metric["unit"].get<std::string>().empty());
    }
  }
}

}  // namespace
