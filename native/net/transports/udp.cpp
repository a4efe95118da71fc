#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

#include "core/error.hpp"
#include "net/transport.hpp"

namespace wulf::net {
namespace {

/// A UDP socket that is connected, so that the kernel keeps everybody else's datagrams out.
class UdpChannel final : public Channel {
 public:
  explicit UdpChannel(Socket socket) : socket_(std::move(socket)) {}

  Io send(std::span<const std::byte> message) noexcept override {
    constexpr Nanoseconds kFullForLong = 10 * kMillisecond;
    Nanoseconds full_since = 0;
    while (::send(socket_.fd(), message.data(), message.size(), MSG_NOSIGNAL) < 0) {
      if (errno == EINTR) {
        return interrupted_.load(std::memory_order_relaxed) ? Io::kClosed : Io::kNudged;
      }
      if (errno != ENOBUFS && errno != EAGAIN) {
        return Io::kClosed;
      }
      // The device's queue is full: as a blocking call, wait for room; but no longer than the caller can, who
      // has to look at the clock.
      const Nanoseconds at = now();
      full_since = full_since == 0 ? at : full_since;
      if (at - full_since >= kFullForLong) {
        return interrupted_.load(std::memory_order_relaxed) ? Io::kClosed : Io::kNudged;
      }
      std::this_thread::yield();
    }
    return Io::kDone;
  }

  Io receive(std::span<std::byte> message, std::size_t& got) noexcept override {
    while (true) {
      const ssize_t received = recv(socket_.fd(), message.data(), message.size(), 0);
      if (received > 0) [[likely]] {
        got = static_cast<std::size_t>(received);
        return Io::kDone;
      }
      if (interrupted_.load(std::memory_order_relaxed) || (received < 0 && errno != EINTR)) {
        return Io::kClosed;
      }
      if (received < 0) {
        return Io::kNudged;
      }
    }
  }

  void interrupt() noexcept override {
    interrupted_.store(true, std::memory_order_relaxed);
    shutdown(socket_.fd(), SHUT_RDWR);
  }

  [[nodiscard]] int file() const noexcept override { return socket_.fd(); }

  [[nodiscard]] Json info() const override {
    return {{"sndbuf", socket_.option(SOL_SOCKET, SO_SNDBUF)},
            {"rcvbuf", socket_.option(SOL_SOCKET, SO_RCVBUF)}};
  }

 private:
  Socket socket_;
  std::atomic<bool> interrupted_{false};
};

/// Connects the socket to the peer, and drops what others sent before that.
std::shared_ptr<UdpChannel> connect_to(Socket socket, const Address& peer) {
  if (::connect(socket.fd(), peer.get(), peer.size()) != 0) {
    throw system_error("connect", "cannot connect a UDP socket to " + peer.text(), errno);
  }
  std::byte scrap{};
  while (recv(socket.fd(), &scrap, sizeof(scrap), MSG_DONTWAIT) >= 0) {
  }
  return std::make_shared<UdpChannel>(std::move(socket));
}

/// Receives hellos at the server's port. Without the key nothing is ever answered; with it, the answer comes
/// from a socket of the client's own.
class UdpIntake final : public Intake {
 public:
  UdpIntake(const Address& address, Gate& gate)
      : address_(address),
        gate_(gate),
        socket_(Socket::create(address.family(), SOCK_DGRAM)),
        stop_(Socket::event()) {
    socket_.bind(address);
    thread_ = std::thread([this] { take_in(); });
  }
  UdpIntake(const UdpIntake&) = delete;
  UdpIntake& operator=(const UdpIntake&) = delete;
  UdpIntake(UdpIntake&&) = delete;
  UdpIntake& operator=(UdpIntake&&) = delete;
  ~UdpIntake() override {
    eventfd_write(stop_.fd(), 1);
    thread_.join();
  }

 private:
  void take_in() {
    std::array<pollfd, 2> watched{{{socket_.fd(), POLLIN, 0}, {stop_.fd(), POLLIN, 0}}};
    while (watched[1].revents == 0) {
      poll(watched.data(), watched.size(), -1);
      if (watched[0].revents != 0) {
        take_one();
      }
    }
  }

  void take_one() {
    std::array<std::byte, Header::kSize + 1> bytes{};  // one more, so that a longer datagram shows
    Address from = address_;
    socklen_t size = sizeof(sockaddr_storage);
    const ssize_t got = recvfrom(socket_.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT, from.get(), &size);
    if (got < 0) {
      return;
    }
    const auto header = gate_.admit(std::span(bytes).first(static_cast<std::size_t>(got)));
    if (!header || header->kind != Kind::kData) {
      return;
    }
    try {
      const auto channel =
          gate_.join(*header, [&](const SocketOptions& options) { return open(from, options); });
      if (channel) {
        channel->send(encode_welcome(header->run, header->channel));
      }
    } catch (const std::exception&) {
      return;  // no socket to be had: the client asks again, and gives up in time
    }
  }

  [[nodiscard]] std::shared_ptr<Channel> open(const Address& client, const SocketOptions& options) const {
    Socket socket = Socket::create(address_.family(), SOCK_DGRAM);
    options.apply_buffers(socket);
    Address own = address_;
    own.set_port(0);
    socket.bind(own);
    return connect_to(std::move(socket), client);
  }

  Address address_;
  Gate& gate_;
  Socket socket_;
  Socket stop_;
  std::thread thread_;
};

/// Waits for the welcome and returns where it came from: the server's socket for this channel.
std::optional<Address> await_welcome(const Socket& socket, const Address& server, const Header& header,
                                     Nanoseconds deadline) {
  const auto expected = encode_welcome(header.run, header.channel);
  while (wait_for(socket.fd(), POLLIN, deadline)) {
    std::array<std::byte, Header::kSize> bytes{};
    Address from = server;
    socklen_t size = sizeof(sockaddr_storage);
    const ssize_t got = recvfrom(socket.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT, from.get(), &size);
    if (got == static_cast<ssize_t>(expected.size()) && from.same_host(server) &&
        std::equal(expected.begin(), expected.end(), bytes.begin())) {
      return from;
    }
  }
  return std::nullopt;
}

class UdpTransport final : public Transport {
 public:
  UdpTransport()
      : Transport({.name = "udp",
                   .help = "UDP over IPv4 or IPv6, one datagram a message",
                   .max_bytes = 65507,     // 65535 - 20 (IPv4 header) - 8 (UDP header)
                   .default_write = 1472,  // an Ethernet frame: 1500 - 20 - 8
                   .datagrams = true,
                   .has_server = true}) {}

  [[nodiscard]] std::shared_ptr<Channel> connect(const Address& server, const Header& header,
                                                 const SocketOptions& options,
                                                 double timeout) const override {
    constexpr Nanoseconds kFirstPatience = 50 * kMillisecond;
    Socket socket = Socket::create(server.family(), SOCK_DGRAM);
    options.apply_buffers(socket);
    const auto hello = header.encode();
    const Nanoseconds deadline = now() + from_seconds(timeout);
    // Hello and welcome may be lost: ask again, each time with twice the patience.
    for (Nanoseconds patience = kFirstPatience; now() < deadline; patience *= 2) {
      sendto(socket.fd(), hello.data(), hello.size(), MSG_NOSIGNAL, server.get(), server.size());
      if (const auto own = await_welcome(socket, server, header, std::min(deadline, now() + patience))) {
        return connect_to(std::move(socket), *own);
      }
    }
    throw Error("timeout", "no UDP answer from " + server.text() + " port " + std::to_string(server.port()) +
                               " within " + Json(timeout).dump() +
                               " s, though TCP reached it: does a firewall drop UDP?");
  }

  [[nodiscard]] std::unique_ptr<Intake> open_intake(const Address& address, Gate& gate) const override {
    return std::make_unique<UdpIntake>(address, gate);
  }
};

const Registered<Transport> registered{std::make_unique<UdpTransport>()};

}  // namespace
}  // namespace wulf::net
