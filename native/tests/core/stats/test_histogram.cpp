#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/stats/histogram.hpp"
#include "tests/catch.hpp"

namespace {

using wulf::Histogram;

TEST_CASE("a bucket is never wider than 1 % of its values, from 1 ns to 100 s") {
  for (double value = 1; value <= 1e11; value *= 1.003) {
    const auto sample = static_cast<std::uint64_t>(value);
    const std::size_t bucket = Histogram::bucket_of(sample);
    const std::uint64_t low = Histogram::bucket_low(bucket);
    const std::uint64_t width = Histogram::bucket_width(bucket);
    INFO("value " << sample << ", bucket " << bucket << " from " << low << ", width " << width);
    REQUIRE(low <= sample);
    REQUIRE(sample < low + width);
    REQUIRE(static_cast<double>(width - 1) <= 0.01 * static_cast<double>(sample));
  }
}

TEST_CASE("buckets follow each other without gap or overlap") {
  const std::size_t last = Histogram::bucket_of(Histogram::kGreatest);
  for (std::size_t bucket = 0; bucket < last; ++bucket) {
    REQUIRE(Histogram::bucket_low(bucket) + Histogram::bucket_width(bucket) ==
            Histogram::bucket_low(bucket + 1));
  }
  REQUIRE(Histogram::bucket_low(last) + Histogram::bucket_width(last) == Histogram::kGreatest + 1);
}

TEST_CASE("quantiles are within 1 % of those of the sorted samples") {
  std::mt19937_64 random(7);
  std::lognormal_distribution<double> distribution(10, 4);
  std::vector<double> samples;
  Histogram histogram;
  for (int i = 0; i < 20001; ++i) {
    const auto sample = static_cast<std::int64_t>(std::min(distribution(random) + 1, 1e11));
    samples.push_back(static_cast<double>(sample));
    histogram.record(sample);
  }
  std::sort(samples.begin(), samples.end());
  for (const double q : {0.0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double exact = samples[static_cast<std::size_t>(q * 20000)];
    INFO("q " << q << " exact " << exact);
    CHECK(std::abs(histogram.quantile(q) - exact) <= 0.01 * exact);
  }
}

TEST_CASE("the standard deviation is that of the samples, to a bucket's width") {
  Histogram histogram;
  CHECK(histogram.deviation() == 0);
  histogram.record(10);
  CHECK(histogram.deviation() == 0);
  histogram.record(14);
  CHECK(std::abs(histogram.deviation() - std::sqrt(8.0)) < 1e-12);  // small values have buckets of their own
  Histogram large;
  for (const std::int64_t sample : {80'000L, 100'000L, 120'000L}) {
    large.record(sample);
  }
  CHECK(std::abs(large.deviation() - 20'000) < 0.01 * 20'000);
}

TEST_CASE("count, mean, least and greatest are exact, also beyond the last bucket") {
  Histogram histogram;
  for (const std::int64_t sample : {5L, 1000003L, 500'000'000'000L}) {
    histogram.record(sample);
  }
  CHECK(histogram.count() == 3);
  CHECK(histogram.least() == 5);
  CHECK(histogram.greatest() == 500'000'000'000);
  CHECK(histogram.mean() == Approx((5 + 1000003 + 5e11) / 3));
}

TEST_CASE("a merged histogram is the histogram of all samples") {
  Histogram low;
  Histogram high;
  Histogram all;
  for (std::int64_t sample = 1; sample < 100'000; sample += 7) {
    (sample % 2 == 0 ? low : high).record(sample);
    all.record(sample);
  }
  low.merge(high);
  CHECK(low.count() == all.count());
  CHECK(low.mean() == Approx(all.mean()));
  CHECK(low.least() == all.least());
  CHECK(low.greatest() == all.greatest());
  for (const double q : {0.01, 0.5, 0.99}) {
    CHECK(low.quantile(q) == all.quantile(q));
  }
}

TEST_CASE("an empty histogram has no figures") {
  const Histogram histogram;
  CHECK(histogram.count() == 0);
  CHECK(histogram.quantile(0.5) == 0);
  CHECK(histogram.mean() == 0);
  CHECK(histogram.least() == 0);
}

TEST_CASE("modes: where they are, and their shares") {
  Histogram histogram;
  std::mt19937_64 random(1);
  std::normal_distribution<double> noise(0, 1500);
  for (int i = 0; i < 6000; ++i) {
    histogram.record(static_cast<std::int64_t>((i % 3 == 0 ? 200e3 : 100e3) + noise(random)));
  }
  const auto peaks = histogram.peaks();
  REQUIRE(peaks.size() == 2);
  CHECK(std::abs(peaks[0].at - 100e3) < 4e3);
  CHECK(std::abs(peaks[0].share - (2.0 / 3)) < 0.01);
  CHECK(std::abs(peaks[1].at - 200e3) < 8e3);
  CHECK(std::abs(peaks[1].share - (1.0 / 3)) < 0.01);
}

TEST_CASE("one broad mode is one, and a handful of samples is none") {
  Histogram histogram;
  CHECK(histogram.peaks().empty());
  for (int i = 0; i < 7; ++i) {
    histogram.record(1000L * (i + 1));
  }
  CHECK(histogram.peaks().empty());
  std::mt19937_64 random(2);
  std::normal_distribution<double> noise(30e3, 6e3);
  for (int i = 0; i < 20000; ++i) {
    histogram.record(static_cast<std::int64_t>(noise(random)));
  }
  CHECK(histogram.peaks().size() == 1);
}

}  // namespace
