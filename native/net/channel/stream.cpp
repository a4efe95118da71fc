#include "net/channel/stream.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace wulf::net {

StreamChannel::StreamChannel(Socket socket, const ChannelOptions& options)
    : socket_(std::move(socket)),
      waiter_(socket_, options.waiting),
      sender_(Sender::make(socket_, options.sending)) {}

Io StreamChannel::send(std::span<const std::byte> message) noexcept {
  while (true) {
    const ssize_t sent = sender_ ? sender_->send(socket_.fd(), message)
                                 : ::send(socket_.fd(), message.data(), message.size(), MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(message.size())) [[likely]] {
      return Io::kDone;
    }
    if (sent >= 0) {
      message = message.subspan(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN) {
      waiter_.for_room();
    } else if (errno != EINTR) {
      return Io::kClosed;
    }
  }
}

Io StreamChannel::receive(std::span<std::byte> message, std::size_t& got) noexcept {
  got = message.size();
  while (true) {
    waiter_.before_receive();
    const ssize_t received = recv(socket_.fd(), message.data(), message.size(), MSG_WAITALL);
    if (received == static_cast<ssize_t>(message.size())) [[likely]] {
      return Io::kDone;
    }
    if (received > 0) {
      message = message.subspan(static_cast<std::size_t>(received));
    } else if (received == 0 || (errno != EINTR && errno != EAGAIN)) {
      return Io::kClosed;
    }
  }
}

Io StreamChannel::receive_some(std::span<std::byte> buffer, std::size_t& got) noexcept {
  while (true) {
    waiter_.before_receive();
    const ssize_t received = recv(socket_.fd(), buffer.data(), buffer.size(), 0);
    if (received > 0) [[likely]] {
      got = static_cast<std::size_t>(received);
      return Io::kDone;
    }
    if (received == 0 || (errno != EINTR && errno != EAGAIN)) {
      return Io::kClosed;
    }
  }
}

void StreamChannel::interrupt() noexcept { shutdown(socket_.fd(), SHUT_RDWR); }

std::vector<int> StreamChannel::files() const {
  std::vector<int> files = waiter_.files();
  files.push_back(socket_.fd());
  if (sender_) {
    const std::vector<int> own = sender_->files();
    files.insert(files.end(), own.begin(), own.end());
  }
  return files;
}

Json StreamChannel::info() const {
  Json info = sender_ ? sender_->info() : Json::object();
  info["sndbuf"] = socket_.option(SOL_SOCKET, SO_SNDBUF);
  info["rcvbuf"] = socket_.option(SOL_SOCKET, SO_RCVBUF);
  return info;
}

}  // namespace wulf::net
