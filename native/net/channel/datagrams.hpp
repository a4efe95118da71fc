#pragma once

#include <atomic>
#include <cerrno>
#include <functional>
#include <memory>
#include <thread>

#include "net/channel/transport.hpp"
#include "net/channel/waiter.hpp"

namespace wulf::net {

/// A datagram socket that is connected, so that the kernel keeps everybody else's datagrams out.
class DatagramChannel : public Channel {
 public:
  DatagramChannel(Socket socket, const ChannelOptions& options);

  Io send(std::span<const std::byte> message) noexcept override;
  Io send_many(std::span<const std::byte> messages, std::size_t each) noexcept override;
  Io receive(std::span<std::byte> message, std::size_t& got) noexcept override;
  void interrupt() noexcept override;
  [[nodiscard]] std::vector<int> files() const override;
  [[nodiscard]] Json info() const override;

 protected:
  [[nodiscard]] const Socket& socket() const noexcept { return socket_; }
  /// Repeats a sending call where the device's queue is full, as a blocking one would; but no longer than the
  /// caller can wait, who has to look at the clock.
  template <typename Call>
  Io until_sent(const Call& call) noexcept {
    constexpr Nanoseconds kFullForLong = 10 * kMillisecond;
    Nanoseconds full_since = 0;
    while (call() < 0) {
      if (interrupted()) {
        return Io::kClosed;
      }
      if (errno == EINTR) {
        return Io::kNudged;
      }
      if (errno != ENOBUFS && errno != EAGAIN) {
        return Io::kClosed;
      }
      const Nanoseconds at = now();
      full_since = full_since == 0 ? at : full_since;
      if (at - full_since >= kFullForLong) {
        return Io::kNudged;
      }
      std::this_thread::yield();
    }
    return Io::kDone;
  }
  [[nodiscard]] bool interrupted() const noexcept { return interrupted_.load(std::memory_order_relaxed); }

 private:
  Socket socket_;
  Waiter waiter_;
  std::atomic<bool> interrupted_{false};
};

/// What a transport does differently: how a socket of its family is made a channel.
struct DatagramFamily {
  /// A new socket with the options, bound so that others can answer it.
  std::function<Socket(const ChannelOptions& options)> open;
  /// The channel over a connected socket.
  std::function<std::shared_ptr<Channel>(Socket socket, const ChannelOptions& options)> channel;
};

/// Receives hellos at the server's address. Without the key nothing is ever answered; with it, the answer
/// comes from a socket of the client's own.
class DatagramIntake final : public Intake {
 public:
  /// `socket` is bound to where the hellos come.
  DatagramIntake(Socket socket, Gate& gate, DatagramFamily family);
  DatagramIntake(const DatagramIntake&) = delete;
  DatagramIntake& operator=(const DatagramIntake&) = delete;
  DatagramIntake(DatagramIntake&&) = delete;
  DatagramIntake& operator=(DatagramIntake&&) = delete;
  ~DatagramIntake() override;

 private:
  void take_in();
  void take_one();

  Socket socket_;
  Gate& gate_;
  DatagramFamily family_;
  Socket stop_;  ///< an eventfd
  std::thread thread_;
};

/// The client's side: says hello at `server` until a welcome comes, and connects to where it came from. Null
/// when none came within `timeout` seconds.
[[nodiscard]] std::shared_ptr<Channel> greet(const Address& server, const Opening& opening,
                                             const DatagramFamily& family, const ChannelOptions& options,
                                             double timeout);

}  // namespace wulf::net
