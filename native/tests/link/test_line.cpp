#include <limits>
#include <vector>

#include "core/json/error.hpp"
#include "link/calibrate.hpp"
#include "link/line.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::link;

constexpr Nanoseconds kMicrosecond = 1000;
constexpr std::size_t kFull = 1514;  // a frame of 1500 bytes behind its header

Line line_with(const Setting& setting) {
  Line line(1);
  line.set(setting);
  return line;
}

TEST_CASE("a line at zero setting hands every frame over at once") {
  Line line(1);
  for (const Nanoseconds current : {5, 5, 900}) {
    const Fate fate = line.admit(kFull, current);
    CHECK(fate.copies == 1);
    CHECK(fate.arrival == current);
  }
  CHECK(line.counts().frames == 3);
  CHECK(line.counts().bytes == 3 * kFull);
}

TEST_CASE("the delay is added to every frame, exactly") {
  Line line = line_with({.delay = 50 * kMicrosecond});
  CHECK(line.admit(60, 7).arrival == 50'007);
  CHECK(line.admit(kFull, 8).arrival == 50'008);
}

TEST_CASE("frames are sent one after another at the rate, and rounding does not add up") {
  Line line = line_with({.delay = 10 * kMicrosecond, .rate = 3e9});
  constexpr int kFrames = 30000;
  Nanoseconds arrival = 0;
  for (int i = 0; i < kFrames; ++i) {
    line.set({.delay = 10 * kMicrosecond, .rate = 3e9, .queue = kFrames});
    arrival = line.admit(kFull, 100).arrival;
  }
  const double expected = 100 + 10e3 + (kFrames * (kFull * 8.0) / 3.0);
  CHECK(std::abs(static_cast<double>(arrival) - expected) < 2);
  CHECK(line.counts().queue_full == 0);
}

TEST_CASE("an idle line saves nothing up, and overhead takes its time") {
  Line line = line_with({.rate = 1e9, .overhead = 24});
  constexpr Nanoseconds kEach = (1514 + 24) * 8L;
  CHECK(line.admit(kFull, 0).arrival == kEach);
  CHECK(line.admit(kFull, kSecond).arrival == kSecond + kEach);
}

TEST_CASE("the queue holds so many frames that wait, beside the one that is being sent") {
  Line line = line_with({.rate = 1e9, .queue = 2});
  const Nanoseconds each = 10'000;
  CHECK(line.admit(1250, 0).arrival == each);
  CHECK(line.admit(1250, 0).arrival == 2 * each);
  CHECK(line.admit(1250, 0).arrival == 3 * each);
  CHECK(line.admit(1250, 0).copies == 0);
  CHECK(line.counts().queue_full == 1);
  CHECK(line.admit(1250, each).arrival == 4 * each);  // the second one is being sent now
}

TEST_CASE("a queue of none lets through what finds the line free") {
  Line line = line_with({.rate = 1e9, .queue = 0});
  CHECK(line.admit(1250, 0).copies == 1);
  CHECK(line.admit(1250, 9999).copies == 0);
  CHECK(line.admit(1250, 10000).copies == 1);
}

TEST_CASE("jitter stays within its limits, fills them, and keeps the order") {
  Line line = line_with({.delay = 100, .jitter = 40});
  Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
  Nanoseconds most = 0;
  for (Nanoseconds current = 0; current < 100'000'000; current += 100'000) {
    const Nanoseconds taken = line.admit(60, current).arrival - current;
    least = std::min(least, taken);
    most = std::max(most, taken);
  }
  CHECK(least >= 60);
  CHECK(least <= 62);
  CHECK(most <= 140);
  CHECK(most >= 138);
  Nanoseconds last = 0;
  for (Nanoseconds current = 200'000'000; current < 200'001'000; ++current) {
    const Nanoseconds arrival = line.admit(60, current).arrival;
    CHECK(arrival >= last);
    last = arrival;
  }
}

TEST_CASE("shares of frames are lost and duplicated; a seed repeats them") {
  constexpr int kFrames = 100000;
  Line line = line_with({.loss = 0.1, .duplicate = 0.02});
  Line same = line_with({.loss = 0.1, .duplicate = 0.02});
  for (int i = 0; i < kFrames; ++i) {
    CHECK(line.admit(60, i).copies == same.admit(60, i).copies);
  }
  CHECK(std::abs((static_cast<double>(line.counts().lost) / kFrames) - 0.1) <
        0.005);  // 5 standard deviations
  CHECK(std::abs((static_cast<double>(line.counts().duplicated) / (0.9 * kFrames)) - 0.02) < 0.0025);
}

TEST_CASE("all or nothing is exact") {
  Line lossy = line_with({.loss = 1});
  Line twice = line_with({.duplicate = 1});
  for (int i = 0; i < 1000; ++i) {
    CHECK(lossy.admit(60, i).copies == 0);
    CHECK(twice.admit(60, i).copies == 2);
  }
}

TEST_CASE("a frame that is lost has used the line") {
  Line line = line_with({.rate = 1e9, .loss = 1});
  line.admit(1250, 0);
  line.set({.rate = 1e9});
  CHECK(line.admit(1250, 0).arrival == 20000);
}

TEST_CASE("a reordered frame skips the delay, and those behind it do not") {
  Line line = line_with({.delay = kMillisecond});
  CHECK(line.admit(60, 0).arrival == kMillisecond);
  line.set({.delay = kMillisecond, .reorder = 1});
  CHECK(line.admit(60, 10).arrival == 10);
  line.set({.delay = kMillisecond});
  CHECK(line.admit(60, 20).arrival == kMillisecond + 20);
  CHECK(line.counts().reordered == 1);
}

TEST_CASE("a frame longer than the MTU is dropped; header and tag do not count") {
  Line line = line_with({.mtu = 1500});
  CHECK(line.admit(1514, 0).copies == 1);
  CHECK(line.admit(1518, 0).copies == 1);
  CHECK(line.admit(1519, 0).copies == 0);
  CHECK(line.counts().too_long == 1);
}

TEST_CASE("moderation hands frames over in batches, one in its time") {
  Line line = line_with({.moderate = 100});
  CHECK(line.admit(60, 1000).arrival == 1100);
  CHECK(line.admit(60, 1001).arrival == 1100);
  CHECK(line.admit(60, 1100).arrival == 1100);
  CHECK(line.admit(60, 1101).arrival == 1201);
  CHECK(line.admit(60, 5000).arrival == 5100);
}

TEST_CASE("a new setting holds for the next frame, and none overtakes at a shorter delay") {
  Line line = line_with({.delay = kMillisecond});
  CHECK(line.admit(60, 0).arrival == kMillisecond);
  line.set({.delay = kMicrosecond});
  CHECK(line.admit(60, 10).arrival == kMillisecond);
  CHECK(line.admit(60, 2 * kMillisecond).arrival == (2 * kMillisecond) + kMicrosecond);
}

TEST_CASE("settings are read with defaults, shown again, and refused with the field") {
  const Setting setting = parse_setting({{"delay", 50e-6}, {"rate", 1e9}, {"queue", 7}});
  CHECK(setting.delay == 50'000);
  CHECK(setting.queue == 7);
  CHECK(describe_setting(parse_setting(describe_setting(setting))) == describe_setting(setting));
  CHECK(describe_setting({}).at("rate").is_null());
  const std::vector<std::pair<Json, std::string>> bad{
      {{{"delay", -1}}, "delay"}, {{{"delay", 11}}, "delay"},     {{{"loss", 1.1}}, "loss"},
      {{{"speed", 1}}, "speed"},  {{{"jitter", 1e-6}}, "jitter"}, {{{"reorder", 0.1}}, "reorder"},
      {{{"rate", 10}}, "rate"},   {{{"mtu", 67}}, "mtu"}};
  for (const auto& [given, field] : bad) {
    try {
      (void)parse_setting(given);
      FAIL(given.dump());
    } catch (const Error& error) {
      CHECK(error.code() == "bad-parameter");
      CHECK(error.field() == field);
    }
  }
}

TEST_CASE("the interval of a median is made of order statistics") {
  std::vector<Nanoseconds> values;
  for (Nanoseconds i = 100; i >= 0; --i) {
    values.push_back(i);
  }
  const MedianInterval found = median_interval(values);
  CHECK(found.value == 50);
  CHECK(found.low == 39);   // floor(50.5 - 9.85) - 1: the 40th of 101
  CHECK(found.high == 61);  // ceil(50.5 + 9.85): the 62nd
}

}  // namespace
