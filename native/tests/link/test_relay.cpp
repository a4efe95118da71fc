#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "core/json/error.hpp"
#include "core/time/clock.hpp"
#include "link/relay.hpp"
#include "link/urgency.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::link;

/// A device as the relay sees it, and the end at which a test plays the node: frames keep their bounds on
/// both.
struct Device {
  Device() {
    std::array<int, 2> ends{};
    REQUIRE(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0);
    relayed = File(ends[0]);
    far = File(ends[1]);
    REQUIRE(fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0);  // the relay reads until nothing is left
  }
  File relayed;
  File far;

  void send(const std::string& frame) const {
    REQUIRE(write(far.fd(), frame.data(), frame.size()) == static_cast<ssize_t>(frame.size()));
  }
  [[nodiscard]] std::string receive() const {
    std::array<char, 2000> buffer{};
    const ssize_t got = read(far.fd(), buffer.data(), buffer.size());
    return {buffer.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0))};
  }
};

/// A relay with one link, "n1".
struct Fixture {
  Fixture() { relay.add("n1", std::move(node.relayed), std::move(port.relayed), 1); }
  Device node;
  Device port;
  Relay relay;
};

TEST_CASE("a relay passes frames both ways, whole and in order") {
  Fixture made;
  for (int i = 0; i < 100; ++i) {
    made.node.send("to the switch " + std::to_string(i));
    made.port.send("to the node " + std::to_string(i));
  }
  for (int i = 0; i < 100; ++i) {
    CHECK(made.port.receive() == "to the switch " + std::to_string(i));
    CHECK(made.node.receive() == "to the node " + std::to_string(i));
  }
  const Json status = made.relay.status();
  CHECK(status["links"][0]["out"]["frames"] == 100);
  CHECK(status["links"][0]["in"]["frames"] == 100);
  CHECK(status["late"].is_null());  // none was made to wait
}

TEST_CASE("a direction's setting holds for that direction alone") {
  Fixture made;
  constexpr Nanoseconds kDelay = 30 * kMillisecond;
  made.relay.set("n1", Direction::kOut, {.delay = kDelay});
  const Nanoseconds start = now();
  made.node.send("late");
  CHECK(made.port.receive() == "late");
  CHECK(now() - start >= kDelay);
  CHECK(made.relay.status()["late"]["frames"] == 1);
  made.relay.set("n1", Direction::kIn, {.duplicate = 1});
  made.port.send("twice");
  CHECK(made.node.receive() == "twice");
  CHECK(made.node.receive() == "twice");
}

TEST_CASE("a link that is removed is gone, with the frames on it") {
  Fixture made;
  made.relay.set("n1", Direction::kOut, {.delay = kSecond});
  made.node.send("never seen");
  made.relay.remove("n1");
  CHECK(made.port.receive().empty());  // the end of the file
  CHECK(made.relay.status()["links"].empty());
  CHECK_THROWS_AS(made.relay.remove("n1"), Error);
  CHECK_THROWS_AS(made.relay.set("n2", Direction::kIn, {}), Error);
}

TEST_CASE("a name is taken once") {
  Fixture made;
  Device one;
  Device two;
  CHECK_THROWS_AS(made.relay.add("n1", std::move(one.relayed), std::move(two.relayed), 1), Error);
}

TEST_CASE("relay: its thread is real-time where it waits for a CPU, and takes some of one, but not most") {
  CHECK(Urgency::worth(false, 0.3, 0.1));
  CHECK_FALSE(Urgency::worth(false, 0.3, 0.01));  // it has what it needs
  CHECK_FALSE(Urgency::worth(false, 0.02, 0.1));  // an idle link
  CHECK_FALSE(Urgency::worth(false, 0.8, 0.1));   // a full one: the kernel's own threads would wait
  // once it is, it no longer waits: it stays so until it takes little, or most
  CHECK(Urgency::worth(true, 0.3, 0));
  CHECK(Urgency::worth(true, 0.8, 0));
  CHECK_FALSE(Urgency::worth(true, 0.9, 0));
  CHECK_FALSE(Urgency::worth(true, 0.02, 0));
}

}  // namespace
