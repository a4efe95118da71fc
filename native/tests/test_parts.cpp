#include <algorithm>
#include <cstdlib>
#include <limits>

#include "core/json/error.hpp"
#include "net/flow/pacer.hpp"
#include "net/run/pattern.hpp"
#include "net/service.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

template <typename Kind>
std::vector<std::string> names() {
  std::vector<std::string> list;
  for (const Kind* part : Registry<Kind>::all()) {
    list.push_back(part->name());
  }
  return list;
}

TEST_CASE("transports and patterns register themselves") {
  CHECK(names<Transport>() ==
        std::vector<std::string>{"null", "pipe", "shm", "tcp", "udp", "unix", "unixgram"});
  CHECK(names<Pattern>() == std::vector<std::string>{"burst", "connect", "loaded", "oneway", "openloop",
                                                     "pingpong", "request", "stream"});
  CHECK(Registry<Transport>::find("carrier-pigeon") == nullptr);
}

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

TEST_CASE("defaults are valid, and the transport chooses the length of a write") {
  for (const Pattern* pattern : Registry<Pattern>::all()) {
    for (const Transport* transport : Registry<Transport>::all()) {
      if (pattern->supports(*transport)) {
        CHECK_NOTHROW(pattern->settle(Json::object(), *transport));
      }
    }
  }
  const Pattern& stream = *Registry<Pattern>::find("stream");
  CHECK(stream.settle(Json::object(), *Registry<Transport>::find("tcp"))["bytes"] == 131072);
  CHECK(stream.settle(Json::object(), *Registry<Transport>::find("udp"))["bytes"] == 1472);
  CHECK(stream.settle({{"bytes", 9}}, *Registry<Transport>::find("udp"))["bytes"] == 9);
}

TEST_CASE("lengths are checked against the transport") {
  const Pattern& pingpong = *Registry<Pattern>::find("pingpong");
  const Transport& udp = *Registry<Transport>::find("udp");
  CHECK_NOTHROW(pingpong.settle({{"bytes", 65507}}, udp));
  CHECK_NOTHROW(pingpong.settle({{"bytes", 16777216}}, *Registry<Transport>::find("tcp")));
  try {
    (void)pingpong.settle({{"bytes", 65508}}, udp);
    FAIL("65508 was accepted");
  } catch (const Error& error) {
    CHECK(error.field() == "bytes");
    CHECK(std::string(error.what()).find("65507") != std::string::npos);
    CHECK(std::string(error.what()).find("65508") != std::string::npos);
  }
}

TEST_CASE("what a transport does not have is refused, unless it is as it would be anyway") {
  const Pattern& pingpong = *Registry<Pattern>::find("pingpong");
  const Transport& udp = *Registry<Transport>::find("udp");
  CHECK_NOTHROW(pingpong.settle({{"nodelay", true}, {"mss", nullptr}, {"waiting", "busy"}}, udp));
  CHECK_THROWS_AS(pingpong.settle({{"mss", 1000}}, udp), Error);
  CHECK_THROWS_AS(pingpong.settle({{"nodelay", false}}, udp), Error);
  CHECK_THROWS_AS(pingpong.settle({{"call_bytes", 100}}, udp), Error);
  CHECK_THROWS_AS(pingpong.settle({{"waiting", "busy"}}, *Registry<Transport>::find("pipe")), Error);
}

TEST_CASE("every option that a transport has is one of those there are") {
  for (const Transport* transport : Registry<Transport>::all()) {
    for (const std::string& option : transport->spec().options) {
      const auto params = channel_params(/*nodelay=*/true);
      CHECK(std::any_of(params.begin(), params.end(),
                        [&](const Param& param) { return param.name == option; }));
    }
  }
}

TEST_CASE("a pattern that needs a server does not run without one") {
  CHECK_THROWS_AS(
      Registry<Pattern>::find("stream")->settle(Json::object(), *Registry<Transport>::find("null")), Error);
}

TEST_CASE("a server is refused every address of the host") {
  const Key key{};
  CHECK_THROWS_AS(Server(*Registry<Transport>::find("tcp"), Address::parse("0.0.0.0", 0), key, std::nullopt),
                  Error);
  CHECK_THROWS_AS(Server(*Registry<Transport>::find("tcp"), Address::parse("::", 0), key, std::nullopt),
                  Error);
}

TEST_CASE("a schedule keeps its rate, however late each sender was") {
  Schedule schedule(3e6, 0);  // a byte every third of a microsecond: the thirds add up
  Nanoseconds late = 0;
  for (int i = 0; i < 3'000'000; ++i) {
    late = schedule.due(late) + 900'000;  // within the millisecond that may be caught up
    schedule.sent(1);
  }
  CHECK(std::abs(schedule.due(0) - kSecond) <= 1);
}

TEST_CASE("who fell behind a schedule catches up by a millisecond at most") {
  Schedule schedule(1e6, 0);
  CHECK(schedule.due(kSecond) == kSecond - kMillisecond);
  schedule.sent(400);
  CHECK(schedule.due(kSecond) == kSecond - 600'000);
  schedule.sent(1000);
  CHECK(schedule.due(kSecond) == kSecond + 400'000);
}

TEST_CASE("a pacer is never ahead of its rate, and is stopped in its sleep") {
  const std::atomic<bool> go{false};
  Pacer pacer(1e6);
  const Nanoseconds start = now();
  for (int i = 0; i < 51; ++i) {
    REQUIRE(pacer.wait(1000, go));
  }
  CHECK(to_seconds(now() - start) >= 0.0485);  // the 51st is due 50 ms after the first
  const std::atomic<bool> stop{true};
  Pacer slow(1);
  REQUIRE(slow.wait(1000, stop));
  CHECK_FALSE(slow.wait(1000, stop));
}

}  // namespace
