#include <algorithm>
#include <string>

#include "replay/program/builder.hpp"
#include "replay/run/run.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::replay;

constexpr Picoseconds kLatency = 50'000'000;  // a round trip of 100 µs
constexpr Picoseconds kByte = 8000;           // 1 Gb/s: 12,500 B in a round trip
constexpr std::uint64_t kWindow = 1000;

Network tcp_network(const char* settings = R"({"initial_segments": 2, "mss": 500})") {
  Network network;
  network.inter.latency = kLatency;
  network.inter.byte_fp = kByte << kFractionBits;
  network.slow_start = Json::parse(settings);
  return network;
}

/// Messages of those sizes from rank 0 to rank 1, each after the one before has come, and a pause before
/// each.
struct Sent {
  std::uint64_t bytes;
  Picoseconds pause;
};
Picoseconds time_of(const std::vector<Sent>& messages, const Network& network) {
  ProgramBuilder builder(2);
  for (const Sent& each : messages) {
    builder.add_calc(0, each.pause);
    builder.add_send(0, 1, each.bytes, 0, 0);
    builder.add_wait(0, 0);
    builder.add_recv(1, 0, each.bytes, 0, 0);
    builder.add_wait(1, 0);
    builder.add_send(1, 0, 1, 1, 1);
    builder.add_wait(1, 1);
    builder.add_recv(0, 1, 1, 1, 0);
    builder.add_wait(0, 0);
  }
  return run_b(builder.finish(), network, {}).time;
}

/// How long a message takes, by rounds: `window` doubles with each, and none is shorter than a round trip.
Picoseconds rounds(std::uint64_t bytes, std::uint64_t window) {
  Picoseconds time = 0;
  std::uint64_t left = bytes - 1;
  for (; left > window; window *= 2) {
    left -= window;
    time += std::max<Picoseconds>(2 * kLatency, static_cast<Picoseconds>(window) * kByte);
  }
  return time + (static_cast<Picoseconds>(left) * kByte);
}

TEST_CASE(
    "replay slow start: a message takes its rounds, until the window covers the bandwidth-delay product") {
  for (const std::uint64_t bytes :
       {1U, 2U, 1000U, 1001U, 1002U, 3001U, 3002U, 15000U, 100'000U, 10'000'000U}) {
    INFO(bytes);
    CHECK(time_of({{bytes, 0}}, tcp_network()) == rounds(bytes, kWindow) + (2 * kLatency));
  }
}

TEST_CASE("replay slow start: a connection keeps its window") {
  // 15,000 B leave it with 8,000: 1,000 + 2,000 + 4,000, and the rest of the fourth round
  const Picoseconds both = time_of({{15'000, 0}, {8'001, 0}}, tcp_network());
  CHECK(both == rounds(15'000, kWindow) + rounds(8'001, (8 * kWindow)) + (4 * kLatency));
}

TEST_CASE(
    "replay slow start: the window of a connection that idles is halved at every timeout, where asked for") {
  const auto after = [](Picoseconds pause, const char* settings) {
    return time_of({{15'000, 0}, {8'001, pause}}, tcp_network(settings)) - pause;
  };
  const auto expected = [](std::uint64_t window) {
    return rounds(15'000, kWindow) + rounds(8'001, window) + (4 * kLatency);
  };
  constexpr Picoseconds kTimeout = 200'000'000'000;
  const char* restart = R"({"initial_segments": 2, "mss": 500, "idle_restart_ps": 200000000000})";
  CHECK(after(kTimeout / 2, restart) == expected(8 * kWindow));
  CHECK(after(kTimeout, restart) == expected(4 * kWindow));
  CHECK(after(2 * kTimeout, restart) == expected(2 * kWindow));
  CHECK(after(50 * kTimeout, restart) == expected(kWindow));
  CHECK(after(50 * kTimeout, R"({"initial_segments": 2, "mss": 500})") == expected(8 * kWindow));
}

TEST_CASE("replay slow start: a window that may not grow holds a connection to a window a round trip") {
  const Network network = tcp_network(R"({"initial_segments": 2, "mss": 500, "max_window": 1000})");
  CHECK(time_of({{1'000'001, 0}}, network) == (2000 * kLatency) + (2 * kLatency));
}

TEST_CASE("replay slow start: the round trip may be given") {
  const Network network = tcp_network(R"({"initial_segments": 2, "mss": 500, "rtt_ps": 300000000})");
  CHECK(time_of({{2'001, 0}}, network) == 300'000'000 + (1000 * kByte) + (2 * kLatency));
}

TEST_CASE("replay slow start: senders to one receiver still share its link, without any topology") {
  ProgramBuilder builder(9);
  constexpr std::uint64_t kBytes = 1'000'001;
  for (std::uint32_t r = 1; r < 9; ++r) {
    builder.add_send(r, 0, kBytes, 0, 0);
    builder.add_recv(0, r, kBytes, 0, r);
  }
  for (std::uint32_t r = 1; r < 9; ++r) {
    builder.add_wait(0, r);
  }
  const Picoseconds time = run_b(builder.finish(), tcp_network(), {}).time;
  // 8 windows of 1,000 B leave the link idle for a third of the first round trip; after it all is full
  constexpr Picoseconds kFull = 8LL * 1'000'000 * kByte;
  CHECK(time >= kFull + kLatency);
  CHECK(time <= kFull + kLatency + (2 * kLatency));
}

TEST_CASE("replay slow start: a window that never stalls is no window, to the picosecond") {
  Network network = tcp_network(R"({"initial_segments": 1, "mss": 1000000})");
  const Picoseconds with = time_of({{3'000'000, 0}, {7, 5}, {2'000'001, 0}}, network);
  network.slow_start = nullptr;
  CHECK(with == time_of({{3'000'000, 0}, {7, 5}, {2'000'001, 0}}, network));
}

TEST_CASE("replay slow start: a wrong setting is refused by name") {
  for (const auto& [text, field] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"initial_segments": 0})", "initial_segments"},
           {R"({"mss": "1448"})", "mss"},
           {R"({"max_window": 0})", "max_window"},
           {R"({"window": 10})", "window"},
           {R"(3)", "slow_start"}}) {
    INFO(text);
    try {
      (void)time_of({{10, 0}}, tcp_network(text));
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == "bad-parameter");
      CHECK(error.field() == field);
    }
  }
}

}  // namespace
