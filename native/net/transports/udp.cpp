#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "core/json/error.hpp"
#include "net/channel/datagrams.hpp"

namespace wulf::net {
namespace {

/// With a batch sent by one call: by sendmmsg(2), or by one sendmsg(2) that the kernel or the device cuts.
class UdpChannel final : public DatagramChannel {
 public:
  UdpChannel(Socket socket, const ChannelOptions& options)
      : DatagramChannel(std::move(socket), options), segments_(options.sending == Sending::kSegments) {}

  Io send_many(std::span<const std::byte> messages, std::size_t each) noexcept override {
    if (!segments_ || messages.size() <= each) {
      return DatagramChannel::send_many(messages, each);
    }
    constexpr std::size_t kMostSegments = 64;  // UDP_MAX_SEGMENTS of older kernels
    constexpr std::size_t kMostBytes = 65507;
    const std::size_t at_once = std::max<std::size_t>(std::min(kMostSegments, kMostBytes / each), 1) * each;
    while (!messages.empty()) {
      const auto part = messages.first(std::min(at_once, messages.size()));
      if (const Io io = send_segments(part, static_cast<std::uint16_t>(each)); io != Io::kDone) {
        return io;
      }
      messages = messages.subspan(part.size());
    }
    return Io::kDone;
  }

 private:
  Io send_segments(std::span<const std::byte> part, std::uint16_t each) noexcept {
    iovec bytes{const_cast<std::byte*>(part.data()), part.size()};  // NOLINT: an iovec serves readers too
    alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(each))> control{};
    msghdr message{};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_UDP;
    head->cmsg_type = UDP_SEGMENT;
    head->cmsg_len = CMSG_LEN(sizeof(each));
    std::memcpy(CMSG_DATA(head), &each, sizeof(each));
    return until_sent([&] { return sendmsg(socket().fd(), &message, MSG_NOSIGNAL); });
  }

  bool segments_;
};

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
                   .options = {"sndbuf", "rcvbuf", "tos", "waiting", "busy_poll", "sending"}}) {}

  [[nodiscard]] std::shared_ptr<Channel> connect(const Address& server, const Opening& opening,
                                                 const ChannelOptions& options,
                                                 double timeout) const override {
    const int family = server.family();
    auto channel = greet(server, opening, udp([family] { return Socket::create(family, SOCK_DGRAM); }),
                         options, timeout);
    if (!channel) {
      throw Error("timeout", "no UDP answer from " + server.text() + " port " +
                                 std::to_string(server.port()) + " within " + Json(timeout).dump() +
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
              if (options.sending == Sending::kSendfile || options.sending == Sending::kZeroCopy) {
                throw bad_parameter("sending", "udp sends by copy or gso");
              }
              Socket socket = open();
              options.apply(socket);
              return socket;
            },
            [](Socket socket, const ChannelOptions& options) {
              return std::make_shared<UdpChannel>(std::move(socket), options);
            }};
  }
};

const Registered<Transport> registered_udp_transport{std::make_unique<UdpTransport>()};

}  // namespace
}  // namespace wulf::net
