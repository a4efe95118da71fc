#include "net/run/control.hpp"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <utility>

#include "core/json/error.hpp"

namespace wulf::net {
namespace {

constexpr std::size_t kLongestMessage = std::size_t{16} << 20U;  // the counters of a host with many CPUs

/// The message, unless it is the other side's error: then that is thrown here.
Json or_throw(Json message) {
  const Json* error = message.find("error");
  if (error == nullptr || !error->is_object()) {
    return message;
  }
  throw Error(error->value("code", "internal"), error->value("message", "the server gave no reason"),
              error->value("field", ""));
}

}  // namespace

Control::Control(Socket socket, double send_timeout)
    : socket_(std::move(socket)), send_timeout_(send_timeout), lines_(kLongestMessage) {
  socket_.set_option(IPPROTO_TCP, TCP_NODELAY, 1);
  // A flood of datagrams may drop this connection's segments too: ask again at even intervals, rather than
  // wait twice as long after each loss (Documentation/networking/tcp-thin.rst).
  socket_.set_option(IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, 1);
}

void Control::send(const Json& message) {
  const std::string text = message.dump() + "\n";
  std::string_view left = text;
  while (!left.empty()) {
    const ssize_t sent = ::send(socket_.fd(), left.data(), left.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      left.remove_prefix(static_cast<std::size_t>(sent));
    } else if (sent < 0 && errno == EAGAIN) {
      if (!wait_for(socket_.fd(), POLLOUT, now() + from_seconds(send_timeout_))) {
        throw Error("peer-lost", "the peer reads nothing from the control connection");
      }
    } else if (sent < 0 && errno != EINTR) {
      throw system_error("peer-lost", "the control connection broke", errno);
    }
  }
}

std::optional<Json> Control::poll() {
  std::array<char, 16384> buffer{};
  while (true) {
    if (const auto line = lines_.next()) {
      std::optional<Json> message = parse_json(line->text);
      if (!message || !message->is_object()) {
        throw Error("peer-lost", "the peer sent what is no message of this protocol");
      }
      return message;
    }
    const ssize_t got = recv(socket_.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      lines_.feed({buffer.data(), static_cast<std::size_t>(got)});
    } else if (got == 0) {
      throw Error("peer-lost",
                  "the peer closed the control connection: its process has ended or was stopped");
    } else if (errno == EAGAIN) {
      return std::nullopt;
    } else if (errno != EINTR) {
      throw system_error("peer-lost", "the control connection broke", errno);
    }
  }
}

Json Control::receive(Nanoseconds deadline) {
  while (true) {
    if (auto message = poll()) {
      return std::move(*message);
    }
    if (!wait_for(socket_.fd(), POLLIN, deadline)) {
      throw Error("timeout", "the peer did not answer in time, though its connection is open");
    }
  }
}

void Control::interrupt() const { shutdown(socket_.fd(), SHUT_RDWR); }

Json ServerPeer::ask(const Json& request) {
  control_.send(request);
  return await();
}

Json ServerPeer::await() {
  while (true) {
    Json message = or_throw(control_.receive(now() + from_seconds(timeout_)));
    if (!is_sign_of_life(message)) {
      return message;
    }
  }
}

bool ServerPeer::is_sign_of_life(const Json& message) { return message.value("op", "") == "alive"; }

std::optional<Json> ServerPeer::poll() {
  auto message = control_.poll();
  return message ? std::optional(or_throw(std::move(*message))) : std::nullopt;
}

}  // namespace wulf::net
