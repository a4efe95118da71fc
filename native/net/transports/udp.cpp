#include <netinet/in.h>
#include <sys/socket.h>

#include "core/error.hpp"
#include "net/datagrams.hpp"

namespace wulf::net {
namespace {

class UdpTransport final : public Transport {
 public:
  UdpTransport()
      : Transport({.name = "udp",
                   .help = "UDP over IPv4 or IPv6, one datagram a message",
                   .max_bytes = 65507,     // 65535 - 20 (IPv4 header) - 8 (UDP header)
                   .default_write = 1472,  // an Ethernet frame: 1500 - 20 - 8
                   .datagrams = true,
                   .has_server = true,
                   .local = false,
                   .options = {"sndbuf", "rcvbuf", "tos", "waiting", "busy_poll"}}) {}

  [[nodiscard]] std::shared_ptr<Channel> connect(const Address& server, const Header& header,
                                                 const ChannelOptions& options,
                                                 double timeout) const override {
    const int family = server.family();
    auto channel = greet(server, header, udp([family] { return Socket::create(family, SOCK_DGRAM); }), options, timeout);
    if (!channel) {
      throw Error("timeout", "no UDP answer from " + server.text() + " port " + std::to_string(server.port()) +
                                 " within " + Json(timeout).dump() +
                                 " s, though TCP reached it: does a firewall drop UDP?");
    }
    return channel;
  }

  [[nodiscard]] std::unique_ptr<Intake> open_intake(const Address& address, Gate& gate) const override {
    Socket socket = Socket::create(address.family(), SOCK_DGRAM);
    socket.bind(address);
    const auto bound = [own = address]() mutable {
      Socket fresh = Socket::create(own.family(), SOCK_DGRAM);
      own.set_port(0);
      fresh.bind(own);
      return fresh;
    };
    return std::make_unique<DatagramIntake>(std::move(socket), gate, udp(bound));
  }

 private:
  static DatagramFamily udp(const std::function<Socket()>& open) {
    return {[open](const ChannelOptions& options) {
              Socket socket = open();
              options.apply(socket);
              return socket;
            },
            [](Socket socket, const ChannelOptions& options) {
              return std::make_shared<DatagramChannel>(std::move(socket), options);
            }};
  }
};

const Registered<Transport> registered{std::make_unique<UdpTransport>()};

}  // namespace
}  // namespace wulf::net
