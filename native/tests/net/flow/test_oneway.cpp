#include <string>
#include <vector>

#include "net/flow/oneway.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

const Json kUnsynchronised{{"boot_id", "a"}, {"synchronised", false}, {"max_error", nullptr}};

const std::vector<Stamps> kLopsided{{0, 70, 80, 100}, {1000, 1070, 1080, 1110}, {2000, 2070, 2080, 2100}};

TEST_CASE("the two ways of a lopsided path are told apart where one clock times both") {
  const ClockBound bound = clock_bound(kUnsynchronised, kUnsynchronised, kLopsided);
  CHECK(bound.source == "one clock");
  CHECK(bound.bound == 0);
  const Json metrics = oneway_metrics(kLopsided, bound);
  CHECK(metrics["there"]["value"] == 70e-9);
  CHECK(metrics["home"]["value"] == 20e-9);
  CHECK(metrics["asymmetry"]["value"].get<double>() == Approx(50e-9));
  CHECK(metrics["rtt"]["value"].get<double>() == Approx(90e-9));
}

TEST_CASE("disciplined clocks are as far apart as their errors together") {
  Json one = kUnsynchronised;
  one["synchronised"] = true;
  one["max_error"] = 2e-6;
  Json other = one;
  other["boot_id"] = "b";
  other["max_error"] = 3e-6;
  const ClockBound bound = clock_bound(one, other, kLopsided);
  CHECK(bound.source == "clock discipline");
  CHECK(bound.bound == 5000);
  CHECK(oneway_metrics(kLopsided, bound)["clock_error"]["value"].get<double>() == Approx(5e-6));
}

TEST_CASE("exchanges alone bound the clocks by half a round trip, and no way is told from the other") {
  Json other = kUnsynchronised;
  other["boot_id"] = "b";
  const ClockBound bound = clock_bound(kUnsynchronised, other, kLopsided);
  CHECK(bound.source == "two-way");
  CHECK(bound.bound == 45);
  const Json metrics = oneway_metrics(kLopsided, bound);
  CHECK(metrics["asymmetry"]["value"].is_null());
  CHECK(metrics["there"]["reason"].get<std::string>().find("not synchronised") != std::string::npos);
  CHECK(metrics["home_varies"]["value"].get<double>() == Approx(0).margin(1e-12));
  other.erase("boot_id");  // an older server says nothing of its clock
  CHECK(clock_bound(kUnsynchronised, Json::object(), kLopsided).source == "two-way");
}

}  // namespace
