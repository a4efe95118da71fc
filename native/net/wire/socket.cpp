#include "net/wire/socket.hpp"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "core/json/error.hpp"

namespace wulf::net {
namespace {

Error no_descriptor(const std::string& what, int reason) {
  const bool limit = reason == EMFILE || reason == ENFILE;
  return system_error(limit ? "limit" : "internal", "cannot make " + what, reason);
}

}  // namespace

Socket& Socket::operator=(Socket&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Socket::~Socket() {
  if (fd_ >= 0) {
    close(fd_);
  }
}

int Socket::release() noexcept { return std::exchange(fd_, -1); }

Socket Socket::create(int family, int type) {
  const int fd = socket(family, type | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    throw no_descriptor("a socket", errno);
  }
  return Socket(fd);
}

Socket Socket::event() {
  const int fd = eventfd(0, EFD_CLOEXEC);
  if (fd < 0) {
    throw no_descriptor("an eventfd", errno);  // without it nothing would end the thread that waits for it
  }
  return Socket(fd);
}

void Socket::bind(const Address& address) const {
  if (address.family() == AF_INET6) {
    set_option(IPPROTO_IPV6, IPV6_V6ONLY, 1);
  }
  if (::bind(fd_, address.get(), address.size()) != 0) {
    const int reason = errno;
    const Error error = system_error("address", "cannot bind to " + address.text(), reason);
    throw Error("address",
                error.what() + std::string(reason == EADDRNOTAVAIL ? ": it is no address of this host" : ""),
                "address");
  }
}

void Socket::connect(const Address& address, double timeout) const {
  const std::string whom = address.text() + " port " + std::to_string(address.port());
  set_blocking(false);
  if (::connect(fd_, address.get(), address.size()) != 0) {
    if (errno != EINPROGRESS) {
      throw system_error("connect", "cannot connect to " + whom, errno);
    }
    if (!wait_for(fd_, POLLOUT, now() + from_seconds(timeout))) {
      throw Error("timeout", whom + " did not accept a connection within " + Json(timeout).dump() +
                                 " s: is the host up, and does a firewall let the port through?");
    }
    if (const int error = option(SOL_SOCKET, SO_ERROR); error != 0) {
      throw system_error("connect", "cannot connect to " + whom, error);
    }
  }
  set_blocking(true);
}

void Socket::set_option(int level, int name, int value) const {
  if (setsockopt(fd_, level, name, &value, sizeof(value)) != 0) {
    throw system_error("internal", "setsockopt " + std::to_string(name) + " = " + std::to_string(value),
                       errno);
  }
}

int Socket::option(int level, int name) const {
  int value = 0;
  socklen_t size = sizeof(value);
  getsockopt(fd_, level, name, &value, &size);
  return value;
}

void Socket::set_blocking(bool blocking) const {
  const int flags = fcntl(fd_, F_GETFL);
  fcntl(fd_, F_SETFL, blocking ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

bool wait_for(int fd, short events, Nanoseconds deadline) {
  while (true) {
    const Nanoseconds left = std::max<Nanoseconds>(deadline - now(), 0);
    pollfd watched{fd, events, 0};
    const int ready = poll(&watched, 1, static_cast<int>((left + kMillisecond - 1) / kMillisecond));
    if (ready > 0) {
      return true;
    }
    if (ready == 0 && now() >= deadline) {
      return false;
    }
  }
}

void open_with(const Socket& socket, std::span<const std::byte> bytes) {
  // A new connection's send queue has room for more than this.
  if (send(socket.fd(), bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    throw system_error("peer-lost", "the server closed a data connection as it was opened", errno);
  }
}

bool read_exactly(int fd, std::span<std::byte> bytes, Nanoseconds deadline) {
  while (!bytes.empty()) {
    if (!wait_for(fd, POLLIN, deadline)) {
      return false;
    }
    const ssize_t got = recv(fd, bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (got > 0) {
      bytes = bytes.subspan(static_cast<std::size_t>(got));
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      return false;
    }
  }
  return true;
}

}  // namespace wulf::net
