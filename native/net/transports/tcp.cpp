#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "core/error.hpp"
#include "net/transport.hpp"

namespace wulf::net {
namespace {

/// A TCP connection: blocking calls, one send and one receive a message.
class TcpChannel final : public Channel {
 public:
  explicit TcpChannel(Socket socket) : socket_(std::move(socket)) {}

  Io send(std::span<const std::byte> message) noexcept override {
    while (true) {
      const ssize_t sent = ::send(socket_.fd(), message.data(), message.size(), MSG_NOSIGNAL);
      if (sent == static_cast<ssize_t>(message.size())) [[likely]] {
        return Io::kDone;
      }
      if (sent >= 0) {
        message = message.subspan(static_cast<std::size_t>(sent));
      } else if (errno != EINTR) {
        return Io::kClosed;
      }
    }
  }

  Io receive(std::span<std::byte> message, std::size_t& got) noexcept override {
    got = message.size();
    while (true) {
      const ssize_t received = recv(socket_.fd(), message.data(), message.size(), MSG_WAITALL);
      if (received == static_cast<ssize_t>(message.size())) [[likely]] {
        return Io::kDone;
      }
      if (received > 0) {
        message = message.subspan(static_cast<std::size_t>(received));
      } else if (received == 0 || errno != EINTR) {
        return Io::kClosed;
      }
    }
  }

  Io receive_some(std::span<std::byte> buffer, std::size_t& got) noexcept override {
    while (true) {
      const ssize_t received = recv(socket_.fd(), buffer.data(), buffer.size(), 0);
      if (received > 0) [[likely]] {
        got = static_cast<std::size_t>(received);
        return Io::kDone;
      }
      if (received == 0 || errno != EINTR) {
        return Io::kClosed;
      }
    }
  }

  /// The kernel cuts it at half of the receive buffer, and wakes the reader when the window is full or the
  /// sender ends.
  void gather(std::size_t bytes) noexcept override {
    const int least = static_cast<int>(bytes);
    setsockopt(socket_.fd(), SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
  }

  [[nodiscard]] std::optional<std::uint64_t> arrived() const override {
    return kernel_info().tcpi_bytes_received;
  }

  void interrupt() noexcept override { shutdown(socket_.fd(), SHUT_RDWR); }

  void discard() noexcept override {
    const linger at_once{.l_onoff = 1,
                         .l_linger = 0};  // the close that follows resets, and drops the send queue
    setsockopt(socket_.fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    interrupt();
  }

  [[nodiscard]] std::uint64_t activity() const override {
    const tcp_info info = kernel_info();
    return info.tcpi_bytes_acked + info.tcpi_bytes_received;
  }

  [[nodiscard]] std::optional<std::uint64_t> retransmits() const override {
    return kernel_info().tcpi_total_retrans;
  }

  [[nodiscard]] int file() const noexcept override { return socket_.fd(); }

  [[nodiscard]] Json info() const override {
    constexpr std::size_t kLongestName = 16;  // TCP_CA_NAME_MAX
    std::array<char, kLongestName + 1> congestion{};
    socklen_t size = kLongestName;
    getsockopt(socket_.fd(), IPPROTO_TCP, TCP_CONGESTION, congestion.data(), &size);
    const tcp_info kernel = kernel_info();
    return {{"mss", kernel.tcpi_snd_mss},
            {"cwnd", std::uint64_t{kernel.tcpi_snd_cwnd} * kernel.tcpi_snd_mss},
            {"sndbuf", socket_.option(SOL_SOCKET, SO_SNDBUF)},
            {"rcvbuf", socket_.option(SOL_SOCKET, SO_RCVBUF)},
            {"nodelay", socket_.option(IPPROTO_TCP, TCP_NODELAY) != 0},
            {"congestion", congestion.data()}};
  }

 private:
  /// Fields that an older kernel does not know stay 0.
  [[nodiscard]] tcp_info kernel_info() const {
    tcp_info info{};
    socklen_t size = sizeof(info);
    getsockopt(socket_.fd(), IPPROTO_TCP, TCP_INFO, &info, &size);
    return info;
  }

  Socket socket_;
};

class TcpTransport final : public Transport {
 public:
  TcpTransport()
      : Transport({.name = "tcp",
                   .help = "TCP over IPv4 or IPv6, blocking calls",
                   .max_bytes = 16 << 20,
                   .default_write = 128 << 10,
                   .datagrams = false,
                   .has_server = true}) {}

  [[nodiscard]] std::shared_ptr<Channel> connect(const Address& server, const Header& header,
                                                 const SocketOptions& options,
                                                 double timeout) const override {
    Socket socket = Socket::create(server.family(), SOCK_STREAM);
    options.apply_buffers(socket);
    socket.set_option(IPPROTO_TCP, TCP_NODELAY, options.nodelay ? 1 : 0);
    socket.connect(server, timeout);
    auto channel = std::make_shared<TcpChannel>(std::move(socket));
    if (channel->send(header.encode()) != Io::kDone) {
      throw Error("peer-lost", "the server closed a data connection as it was opened");
    }
    return channel;
  }

  [[nodiscard]] std::shared_ptr<Channel> adopt(Socket& socket, const SocketOptions& options) const override {
    options.apply_buffers(socket);
    socket.set_option(IPPROTO_TCP, TCP_NODELAY, options.nodelay ? 1 : 0);
    return std::make_shared<TcpChannel>(std::move(socket));
  }
};

const Registered<Transport> registered{std::make_unique<TcpTransport>()};

}  // namespace
}  // namespace wulf::net
