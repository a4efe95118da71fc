#include <sys/socket.h>
#include <sys/time.h>

#include "core/json/error.hpp"
#include "net/channel/datagrams.hpp"
#include "net/channel/local.hpp"

namespace wulf::net {
namespace {

/// Two processes of one node over a datagram socket of the family AF_UNIX. None is lost: a sender waits where
/// the receiver's queue is full.
class UnixDatagramTransport final : public Transport {
 public:
  UnixDatagramTransport()
      : Transport({.name = "unixgram",
                   .help = "AF_UNIX datagram socket, within one node",
                   .max_bytes = 65536,
                   .default_write = 32 << 10,
                   .datagrams = true,
                   .has_server = true,
                   .local = true,
                   .options = {"sndbuf", "rcvbuf", "waiting"}}) {}

  [[nodiscard]] std::shared_ptr<Channel> connect(const Address& server, const Opening& opening,
                                                 const ChannelOptions& options,
                                                 double timeout) const override {
    auto channel = greet(local_address(server, name()), opening, family(), options, timeout);
    if (!channel) {
      throw Error("connect", "no server for unixgram of " + server.text() +
                                 " is on this node: unixgram needs both ends on one node");
    }
    return channel;
  }

  [[nodiscard]] std::unique_ptr<Intake> open_intake(const Address& address, Gate& gate) const override {
    Socket socket = Socket::create(AF_UNIX, SOCK_DGRAM);
    socket.bind(local_address(address, name()));
    return std::make_unique<DatagramIntake>(std::move(socket), gate, family());
  }

 private:
  static DatagramFamily family() {
    return {open, [](Socket socket, const ChannelOptions& options) {
              return std::make_shared<DatagramChannel>(std::move(socket), options);
            }};
  }

  static Socket open(const ChannelOptions& options) {
    Socket socket = Socket::create(AF_UNIX, SOCK_DGRAM);
    options.apply(socket);
    // A sender that waits for room in a queue hears nothing of its own socket's end: it has to look now and
    // then.
    const timeval patience{.tv_sec = 0, .tv_usec = 100'000};
    setsockopt(socket.fd(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    socket.bind(Address::local(""));
    return socket;
  }
};

const Registered<Transport> registered_unix_datagram_transport{std::make_unique<UnixDatagramTransport>()};

}  // namespace
}  // namespace wulf::net
