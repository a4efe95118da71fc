#include <string>

#include "core/json/error.hpp"
#include "replay/run/network.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::replay;

TEST_CASE("replay network: hosts are a list, or how many ranks share one") {
  const Json inter{{"latency_ps", 1}, {"send_ps", 2}, {"receive_ps", 3}, {"gap_ps", 4}, {"byte_fp", 5}};
  const Network listed = parse_network({{"inter", inter}, {"hosts", Json::array({0, 1, 0})}}, 3);
  CHECK(listed.same_host(0, 2));
  CHECK_FALSE(listed.same_host(0, 1));
  CHECK(listed.inter.eager_bytes == UINT64_MAX);
  CHECK(listed.receiver_gap);
  CHECK_FALSE(listed.own_intra);
  const Network blocks = parse_network({{"inter", inter}, {"hosts", 2}}, 4);
  CHECK(blocks.same_host(2, 3));
  CHECK_FALSE(blocks.same_host(1, 2));
}

TEST_CASE("replay network: a field that is missing, unknown or out of its limits is named") {
  const auto field = [](const Json& json) {
    try {
      (void)parse_network(json, 2);
    } catch (const Error& error) {
      return error.field();
    }
    return std::string();
  };
  Json inter{{"latency_ps", 1}, {"send_ps", 2}, {"receive_ps", 3}, {"gap_ps", 4}, {"byte_fp", 5}};
  CHECK(field({{"inter", inter}}).empty());
  CHECK(field(Json::object()) == "inter");
  CHECK(field({{"inter", inter}, {"hosts", Json::array({1})}}) == "hosts");
  CHECK(field({{"inter", inter}, {"colour", 1}}) == "colour");
  inter["latency_ps"] = -1;
  CHECK(field({{"inter", inter}}) == "latency_ps");
  inter.erase("latency_ps");
  CHECK(field({{"inter", inter}}) == "latency_ps");
}

}  // namespace
