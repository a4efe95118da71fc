#include <cmath>
#include <cstdint>

#include "node/time/timing.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;

bool near(double value, double expected) { return std::abs(value - expected) <= 1e-9 * std::abs(expected); }

TEST_CASE("batches hold as many operations as they say, and at least three are timed") {
  std::uint64_t done = 0;
  const Samples samples = time_batches([&](std::uint64_t count) { done += count; }, 0.0);
  CHECK(samples.size() >= 3);
  CHECK(samples.operations() <= done);  // the warm-up's are not counted
  CHECK(samples.operations() % samples.size() == 0);
}

TEST_CASE("samples are described by their median, and a rate is that of each batch") {
  Samples samples;
  for (const double each : {2e-9, 1e-9, 4e-9}) {
    samples.add(each, 10);
  }
  const wulf::Json metric = samples.metric();
  CHECK(metric.at("value") == 2e-9);
  CHECK(metric.at("min") == 1e-9);
  CHECK(metric.at("n") == 30);
  CHECK(std::abs((samples.rate("B/s", 8).at("value").get<double>() / 4e9) - 1) < 1e-9);
  CHECK(std::abs((samples.spent() / 7e-8) - 1) < 1e-9);
  CHECK(std::abs((samples.deviation() / 1.527525e-9) - 1) < 1e-6);
}

TEST_CASE("samples less a cost, and those of operations that were several") {
  Samples samples;
  samples.add(10e-6, 2);
  samples.add(14e-6, 2);
  CHECK(near(samples.less(4e-6).median(), 8e-6));
  CHECK(near(samples.less(4e-6).spent(), 32e-6));
  CHECK(near(samples.split(2).median(), 6e-6));
  CHECK(samples.split(2).operations() == 8);
  CHECK(near(samples.split(2).spent(), samples.spent()));
}

TEST_CASE("bodies that are timed in turn have as many batches each, and each its own count") {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  const auto count_first = [&](std::uint64_t count) { first += count; };
  const auto count_second = [&](std::uint64_t count) { second += count; };
  const auto [one, other] = time_in_turn<2>({count_first, count_second}, 0.002);
  CHECK(one.size() == other.size());
  CHECK(one.size() >= 3);
  CHECK(first > one.operations());  // the calibration comes on top
  CHECK(second > other.operations());
}

}  // namespace
