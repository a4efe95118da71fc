#include <sys/socket.h>

#include "core/json/error.hpp"
#include "net/run/control.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

/// Two ends of a TCP connection over loopback, with small buffers.
struct Connection {
  Connection() {
    const Socket listener = Socket::create(AF_INET, SOCK_STREAM);
    const Address address = Address::parse("127.0.0.1", 0);
    listener.bind(address);
    REQUIRE(::listen(listener.fd(), 1) == 0);
    near = Socket::create(AF_INET, SOCK_STREAM);
    near.set_option(SOL_SOCKET, SO_SNDBUF, 4096);
    near.connect(Address::of_socket(listener.fd()), 5);
    far = Socket(accept(listener.fd(), nullptr, nullptr));
  }
  Socket near;
  Socket far;
};

TEST_CASE("a message to a peer who reads nothing is given up") {
  Connection connection;
  Control control(std::move(connection.near), /*send_timeout=*/0.05);
  try {
    control.send({{"text", std::string(std::size_t{16} << 20U, 'x')}});
    FAIL("sent to nobody");
  } catch (const Error& error) {
    CHECK(error.code() == "peer-lost");
  }
}

TEST_CASE("a message nested too deep is none of the protocol") {
  Connection connection;
  Control control(std::move(connection.near));
  const std::string text = R"({"op": )" + std::string(10'000, '[') + std::string(10'000, ']') + "}\n";
  REQUIRE(::send(connection.far.fd(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()));
  CHECK_THROWS_AS(control.receive(now() + from_seconds(5)), Error);
}

}  // namespace
