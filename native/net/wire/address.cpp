#include "net/wire/address.hpp"

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/json/error.hpp"

namespace wulf::net {
namespace {

const sockaddr_in& as_v4(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in&>(storage);
}
sockaddr_in& as_v4(sockaddr_storage& storage) { return reinterpret_cast<sockaddr_in&>(storage); }
const sockaddr_in6& as_v6(const sockaddr_storage& storage) {
  return reinterpret_cast<const sockaddr_in6&>(storage);
}
sockaddr_in6& as_v6(sockaddr_storage& storage) { return reinterpret_cast<sockaddr_in6&>(storage); }

}  // namespace

Address Address::parse(const std::string& text, std::uint16_t port) {
  Address address;
  if (inet_pton(AF_INET, text.c_str(), &as_v4(address.storage_).sin_addr) == 1) {
    address.storage_.ss_family = AF_INET;
    address.size_ = sizeof(sockaddr_in);
    address.set_port(port);
    return address;
  }
  const std::size_t percent = text.find('%');
  if (inet_pton(AF_INET6, text.substr(0, percent).c_str(), &as_v6(address.storage_).sin6_addr) != 1) {
    throw Error("address",
                "'" + text + "' is no IPv4 or IPv6 address: give numbers, names are not looked up here",
                "address");
  }
  address.storage_.ss_family = AF_INET6;
  address.size_ = sizeof(sockaddr_in6);
  if (percent != std::string::npos) {
    as_v6(address.storage_).sin6_scope_id = if_nametoindex(text.c_str() + percent + 1);
    if (as_v6(address.storage_).sin6_scope_id == 0) {
      throw Error("address", "'" + text + "': this host has no interface of that name", "address");
    }
  }
  address.set_port(port);
  return address;
}

Address Address::local(const std::string& name) {
  Address address;
  auto& local = reinterpret_cast<sockaddr_un&>(address.storage_);
  local.sun_family = AF_UNIX;
  if (name.size() >= sizeof(local.sun_path)) {
    throw Error("address", "'" + name + "' is too long for the name of a socket", "address");
  }
  // A zero byte, then the name; a size without even that asks the system for a name.
  std::memcpy(&local.sun_path[1], name.data(), name.size());
  address.size_ =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + (name.empty() ? 0 : name.size() + 1));
  return address;
}

Address Address::of_socket(int fd) {
  Address address;
  address.size_ = sizeof(storage_);
  if (getsockname(fd, address.get(), &address.size_) != 0) {
    throw system_error("internal", "getsockname", errno);
  }
  return address;
}

ssize_t Address::receive(int fd, std::span<std::byte> bytes, Address& from) {
  from.size_ = sizeof(storage_);
  return recvfrom(fd, bytes.data(), bytes.size(), MSG_DONTWAIT, from.get(), &from.size_);
}

std::uint16_t Address::port() const {
  return ntohs(family() == AF_INET ? as_v4(storage_).sin_port : as_v6(storage_).sin6_port);
}

void Address::set_port(std::uint16_t port) {
  (family() == AF_INET ? as_v4(storage_).sin_port : as_v6(storage_).sin6_port) = htons(port);
}

bool Address::is_wildcard() const {
  return family() == AF_INET ? as_v4(storage_).sin_addr.s_addr == INADDR_ANY
                             : IN6_IS_ADDR_UNSPECIFIED(&as_v6(storage_).sin6_addr);
}

bool Address::same_host(const Address& other) const {
  if (family() != other.family()) {
    return false;
  }
  if (family() == AF_UNIX) {
    return true;
  }
  return family() == AF_INET ? as_v4(storage_).sin_addr.s_addr == as_v4(other.storage_).sin_addr.s_addr
                             : std::memcmp(&as_v6(storage_).sin6_addr, &as_v6(other.storage_).sin6_addr,
                                           sizeof(in6_addr)) == 0;
}

std::string Address::text() const {
  if (family() == AF_UNIX) {
    const auto& local = reinterpret_cast<const sockaddr_un&>(storage_);
    const std::size_t name = offsetof(sockaddr_un, sun_path) + 1;
    return size_ <= name ? "@" : "@" + std::string(&local.sun_path[1], size_ - name);
  }
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  const void* bytes = family() == AF_INET ? static_cast<const void*>(&as_v4(storage_).sin_addr)
                                          : static_cast<const void*>(&as_v6(storage_).sin6_addr);
  inet_ntop(family(), bytes, buffer.data(), buffer.size());
  std::string text = buffer.data();
  std::array<char, IF_NAMESIZE> interface {};
  if (family() == AF_INET6 && as_v6(storage_).sin6_scope_id != 0 &&
      if_indextoname(as_v6(storage_).sin6_scope_id, interface.data()) != nullptr) {
    text += std::string("%") + interface.data();
  }
  return text;
}

}  // namespace wulf::net
