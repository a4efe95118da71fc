#include <algorithm>
#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "net/run/pattern.hpp"
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

}  // namespace
