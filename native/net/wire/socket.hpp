#pragma once

#include <cstddef>
#include <span>

#include "core/time/clock.hpp"
#include "net/wire/address.hpp"

namespace wulf::net {

/// A socket that closes itself. Descriptors are close-on-exec and blocking.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;
  Socket(Socket&& other) noexcept : fd_(other.release()) {}
  Socket& operator=(Socket&& other) noexcept;
  ~Socket();

  /// A new socket of `type` (SOCK_STREAM, SOCK_DGRAM) for the family. Throws `limit` or `internal`.
  static Socket create(int family, int type);

  /// An eventfd, by which one thread wakes another. Throws `limit` or `internal`.
  static Socket event();

  [[nodiscard]] int fd() const { return fd_; }
  [[nodiscard]] int release() noexcept;

  /// Bound to that address, IPv6 only to IPv6. Throws `address`.
  void bind(const Address& address) const;

  /// Connects within `timeout`. Throws `connect` or `timeout`.
  void connect(const Address& address, double timeout) const;

  void set_option(int level, int name, int value) const;
  [[nodiscard]] int option(int level, int name) const;
  void set_blocking(bool blocking) const;

 private:
  int fd_ = -1;
};

/// Waits until the descriptor is readable (POLLIN) or writable (POLLOUT), or `deadline` passes: then false.
bool wait_for(int fd, short events, Nanoseconds deadline);

/// Sends the first bytes over a new connection. Throws `peer-lost`.
void open_with(const Socket& socket, std::span<const std::byte> bytes);

/// Fills `bytes` before `deadline`. False at the end of the stream, on an error or past the deadline.
bool read_exactly(int fd, std::span<std::byte> bytes, Nanoseconds deadline);

}  // namespace wulf::net
