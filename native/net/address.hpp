#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

namespace wulf::net {

/// A numeric IPv4 or IPv6 address with a port. Names are never looked up: that is the launcher's task.
class Address {
 public:
  Address() = default;

  /// "10.0.0.1", "fe80::1%eth0". Throws `address` for anything else.
  static Address parse(const std::string& text, std::uint16_t port);

  /// The address to which the socket is bound.
  static Address of_socket(int fd);

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
  [[nodiscard]] socklen_t size() const;

 private:
  sockaddr_storage storage_{};
};

}  // namespace wulf::net
