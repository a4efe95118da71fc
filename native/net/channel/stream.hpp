#pragma once

#include <memory>

#include "net/channel/transport.hpp"
#include "net/channel/waiter.hpp"

namespace wulf::net {

/// Hands a message to a stream socket in another way than by send(2).
class Sender {
 public:
  Sender() = default;
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  Sender(Sender&&) = delete;
  Sender& operator=(Sender&&) = delete;
  virtual ~Sender() = default;

  /// As send(2): how many bytes were taken, or -1 with errno.
  virtual ssize_t send(int socket, std::span<const std::byte> message) noexcept = 0;
  [[nodiscard]] virtual std::vector<int> files() const { return {}; }
  [[nodiscard]] virtual Json info() const { return Json::object(); }

  /// The one that `sending` names; null for kCopy, which needs none. Throws bad-parameter or `limit`.
  [[nodiscard]] static std::unique_ptr<Sender> make(const Socket& socket, Sending sending);
};

/// A byte stream over a connected socket: one send and one receive a message.
class StreamChannel : public Channel {
 public:
  StreamChannel(Socket socket, const ChannelOptions& options);

  Io send(std::span<const std::byte> message) noexcept override;
  Io receive(std::span<std::byte> message, std::size_t& got) noexcept override;
  Io receive_some(std::span<std::byte> buffer, std::size_t& got) noexcept override;
  void interrupt() noexcept override;
  [[nodiscard]] std::vector<int> files() const override;
  [[nodiscard]] Json info() const override;

 protected:
  [[nodiscard]] const Socket& socket() const noexcept { return socket_; }

 private:
  Socket socket_;
  Waiter waiter_;
  std::unique_ptr<Sender> sender_;
};

}  // namespace wulf::net
