#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

#include "core/json/error.hpp"
#include "net/channel/stream.hpp"
#include "net/wire/tcp_state.hpp"

namespace wulf::net {
namespace {

/// A TCP connection.
class TcpChannel final : public StreamChannel {
 public:
  TcpChannel(Socket socket, const ChannelOptions& options)
      : StreamChannel(std::move(socket), options), cork_(options.cork) {}

  void cork(bool held) noexcept override {
    if (cork_) {
      const int value = held ? 1 : 0;
      setsockopt(socket().fd(), IPPROTO_TCP, TCP_CORK, &value, sizeof(value));
    }
  }

  /// The kernel cuts it at half of the receive buffer, and wakes the reader when the window is full or the
  /// sender ends.
  void gather(std::size_t bytes) noexcept override {
    const int least = static_cast<int>(bytes);
    setsockopt(socket().fd(), SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least));
  }

  [[nodiscard]] std::optional<std::uint64_t> arrived() const override {
    return kernel_info().tcpi_bytes_received;
  }

  void discard() noexcept override {
    const linger at_once{.l_onoff = 1,
                         .l_linger = 0};  // the close that follows resets, and drops the send queue
    setsockopt(socket().fd(), SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    interrupt();
  }

  [[nodiscard]] std::uint64_t activity() const override {
    const tcp_info info = kernel_info();
    return info.tcpi_bytes_acked + info.tcpi_bytes_received;
  }

  [[nodiscard]] std::optional<std::uint64_t> retransmits() const override {
    return kernel_info().tcpi_total_retrans;
  }

  [[nodiscard]] Json state() const override { return tcp_state(socket().fd()); }

  [[nodiscard]] Json info() const override {
    constexpr std::size_t kLongestName = 16;  // TCP_CA_NAME_MAX
    std::array<char, kLongestName + 1> congestion{};
    socklen_t size = kLongestName;
    getsockopt(socket().fd(), IPPROTO_TCP, TCP_CONGESTION, congestion.data(), &size);
    const tcp_info kernel = kernel_info();
    Json info = StreamChannel::info();
    info["mss"] = kernel.tcpi_snd_mss;
    info["cwnd"] = std::uint64_t{kernel.tcpi_snd_cwnd} * kernel.tcpi_snd_mss;
    info["nodelay"] = socket().option(IPPROTO_TCP, TCP_NODELAY) != 0;
    info["congestion"] = congestion.data();
    return info;
  }

 private:
  /// Fields that an older kernel does not know stay 0.
  [[nodiscard]] tcp_info kernel_info() const {
    tcp_info info{};
    socklen_t size = sizeof(info);
    getsockopt(socket().fd(), IPPROTO_TCP, TCP_INFO, &info, &size);
    return info;
  }

  bool cork_;
};

class TcpTransport final : public Transport {
 public:
  TcpTransport()
      : Transport({.name = "tcp",
                   .help = "TCP over IPv4 or IPv6",
                   .max_bytes = 16 << 20,
                   .default_write = 128 << 10,
                   .datagrams = false,
                   .has_server = true,
                   .local = false,
                   .options = {"sndbuf", "rcvbuf", "nodelay", "cork", "mss", "congestion", "tos", "waiting",
                               "busy_poll", "sending"}}) {}

  [[nodiscard]] std::shared_ptr<Channel> connect(const Address& server, const Opening& opening,
                                                 const ChannelOptions& options,
                                                 double timeout) const override {
    Socket socket = Socket::create(server.family(), SOCK_STREAM);
    options.apply_tcp(socket);
    socket.connect(server, timeout);
    open_with(socket, opening.bytes);
    return std::make_shared<TcpChannel>(std::move(socket), options);
  }

  [[nodiscard]] std::shared_ptr<Channel> adopt(Socket& socket, const ChannelOptions& options) const override {
    options.apply_tcp(socket);
    return std::make_shared<TcpChannel>(std::move(socket), options);
  }
};

const Registered<Transport> registered_tcp_transport{std::make_unique<TcpTransport>()};

}  // namespace
}  // namespace wulf::net
