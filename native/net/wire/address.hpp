#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace wulf::net {

/// A numeric IPv4 or IPv6 address with a port, or the name of a socket on this host. Host names are never
/// looked up: that is the launcher's task.
class Address {
 public:
  Address() = default;

  /// "10.0.0.1", "fe80::1%eth0". Throws `address` for anything else.
  static Address parse(const std::string& text, std::uint16_t port);

  /// A name in the abstract namespace of this host's sockets (unix(7)): it ends with its socket, and no file
  /// stays. At most 107 bytes; empty = the system chooses when a socket is bound to it.
  static Address local(const std::string& name);

  /// The address to which the socket is bound.
  static Address of_socket(int fd);

  /// As recvfrom(2) without waiting: how many bytes came, and from whom; -1 with errno.
  static ssize_t receive(int fd, std::span<std::byte> bytes, Address& from);

  [[nodiscard]] int family() const { return storage_.ss_family; }
  [[nodiscard]] std::uint16_t port() const;
  void set_port(std::uint16_t port);

  /// 0.0.0.0 or ::, every address of the host.
  [[nodiscard]] bool is_wildcard() const;
  [[nodiscard]] bool same_host(const Address& other) const;

  /// The address without its port, as parse() reads it.
  [[nodiscard]] std::string text() const;

  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  [[nodiscard]] sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage_); }
  [[nodiscard]] socklen_t size() const { return size_; }

 private:
  sockaddr_storage storage_{};
  socklen_t size_ = 0;
};

}  // namespace wulf::net
