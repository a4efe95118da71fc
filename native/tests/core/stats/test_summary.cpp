#include "core/stats/summary.hpp"
#include "tests/catch.hpp"

using wulf::summary;

TEST_CASE("A summary's value is the median of its batches", "[summary]") {
  const wulf::Json json = summary("s", {3.0, 1.0, 2.0, 10.0}, 400);
  CHECK(json["unit"] == "s");
  CHECK(json["value"] == 2.5);
  CHECK(json["n"] == 400);
  CHECK(json["batches"] == 4);
  CHECK(json["mean"] == 4.0);
  CHECK(json["min"] == 1.0);
  CHECK(json["max"] == 10.0);
  CHECK(json["quantiles"]["0.5"] == 2.5);
  CHECK(json["quantiles"]["0.9"].get<double>() == Approx(7.9));
}

TEST_CASE("One batch has no deviation", "[summary]") { CHECK(summary("Hz", {5.0}, 1)["deviation"] == 0.0); }

TEST_CASE("What has no value has a reason", "[summary]") {
  const wulf::Json json = wulf::no_value("s", "no meter");
  CHECK(json["value"].is_null());
  CHECK(json["reason"] == "no meter");
}

TEST_CASE("The median of values in any order", "[summary]") {
  CHECK(wulf::median_of({3.0, 1.0, 2.0, 10.0}) == 2.5);
  CHECK(wulf::median_of({7.0}) == 7.0);
  CHECK(wulf::median_of({}) == 0.0);
}
