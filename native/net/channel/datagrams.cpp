#include "net/channel/datagrams.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/json/error.hpp"

namespace wulf::net {
namespace {

/// Connects the socket to the peer, and drops what others sent before that.
void connect_to(const Socket& socket, const Address& peer) {
  if (::connect(socket.fd(), peer.get(), peer.size()) != 0) {
    throw system_error("connect", "cannot connect a datagram socket to " + peer.text(), errno);
  }
  std::byte scrap{};
  while (recv(socket.fd(), &scrap, sizeof(scrap), MSG_DONTWAIT) >= 0) {
  }
}

/// Waits for the welcome and returns where it came from: the server's socket for this channel.
std::optional<Address> await_welcome(const Socket& socket, const Address& server, const Header& header,
                                     Nanoseconds deadline) {
  const auto expected = encode_welcome(header.run, header.channel);
  while (wait_for(socket.fd(), POLLIN, deadline)) {
    std::array<std::byte, Header::kSize> bytes{};
    Address from;
    const ssize_t got = Address::receive(socket.fd(), bytes, from);
    if (got == static_cast<ssize_t>(expected.size()) && from.same_host(server) &&
        std::equal(expected.begin(), expected.end(), bytes.begin())) {
      return from;
    }
  }
  return std::nullopt;
}

}  // namespace

DatagramChannel::DatagramChannel(Socket socket, const ChannelOptions& options)
    : socket_(std::move(socket)), waiter_(socket_, options.waiting) {}

Io DatagramChannel::send(std::span<const std::byte> message) noexcept {
  return until_sent([&] { return ::send(socket_.fd(), message.data(), message.size(), MSG_NOSIGNAL); });
}

Io DatagramChannel::send_many(std::span<const std::byte> messages, std::size_t each) noexcept {
  constexpr std::size_t kMost = 64;
  std::array<mmsghdr, kMost> headers{};
  std::array<iovec, kMost> parts{};
  while (!messages.empty()) {
    const std::size_t count = std::min(messages.size() / each, kMost);
    for (std::size_t i = 0; i < count; ++i) {
      // NOLINTNEXTLINE(cppcoreguidelines-pro-type-const-cast): an iovec serves readers too
      parts[i] = {const_cast<std::byte*>(&messages[i * each]), each};
      headers[i].msg_hdr.msg_iov = &parts[i];
      headers[i].msg_hdr.msg_iovlen = 1;
    }
    int sent = 0;
    const Io io = until_sent([&] {
      return sent = sendmmsg(socket_.fd(), headers.data(), static_cast<unsigned>(count), MSG_NOSIGNAL);
    });
    if (io == Io::kClosed) {
      return io;
    }
    if (io == Io::kDone) {  // else again: what has gone already must not go twice
      messages = messages.subspan(static_cast<std::size_t>(sent) * each);
    }
  }
  return Io::kDone;
}

Io DatagramChannel::receive(std::span<std::byte> message, std::size_t& got) noexcept {
  constexpr int kCallsBetweenLooks = 256;
  for (int calls = 0; calls < kCallsBetweenLooks; ++calls) {
    waiter_.before_receive();
    const ssize_t received = recv(socket_.fd(), message.data(), message.size(), 0);
    if (received > 0) [[likely]] {
      got = static_cast<std::size_t>(received);
      return Io::kDone;
    }
    if (interrupted() || (received < 0 && errno != EINTR && (!waiter_.polls() || errno != EAGAIN))) {
      return Io::kClosed;
    }
    if (received < 0 && (errno == EINTR || !waiter_.spins())) {
      return Io::kNudged;
    }
  }
  return Io::kNudged;
}

void DatagramChannel::interrupt() noexcept {
  interrupted_.store(true, std::memory_order_relaxed);
  shutdown(socket_.fd(), SHUT_RDWR);
}

std::vector<int> DatagramChannel::files() const {
  std::vector<int> files = waiter_.files();
  files.push_back(socket_.fd());
  return files;
}

Json DatagramChannel::info() const {
  return {{"sndbuf", socket_.option(SOL_SOCKET, SO_SNDBUF)},
          {"rcvbuf", socket_.option(SOL_SOCKET, SO_RCVBUF)}};
}

DatagramIntake::DatagramIntake(Socket socket, Gate& gate, DatagramFamily family)
    : socket_(std::move(socket)), gate_(gate), family_(std::move(family)), stop_(Socket::event()) {
  thread_ = std::thread([this] { take_in(); });
}

DatagramIntake::~DatagramIntake() {
  eventfd_write(stop_.fd(), 1);
  thread_.join();
}

void DatagramIntake::take_in() {
  std::array<pollfd, 2> watched{{{socket_.fd(), POLLIN, 0}, {stop_.fd(), POLLIN, 0}}};
  while (watched[1].revents == 0) {
    poll(watched.data(), watched.size(), -1);
    if (watched[0].revents != 0) {
      take_one();
    }
  }
}

void DatagramIntake::take_one() {
  std::array<std::byte, Header::kSize + 1> bytes{};  // one more, so that a longer datagram shows
  Address from;
  const ssize_t got = Address::receive(socket_.fd(), bytes, from);
  if (got < 0) {
    return;
  }
  const auto header = gate_.admit(std::span(bytes).first(static_cast<std::size_t>(got)));
  if (!header) {
    return;
  }
  try {
    const auto channel = gate_.join(*header, [&](const ChannelOptions& options) {
      Socket socket = family_.open(options);
      connect_to(socket, from);
      return family_.channel(std::move(socket), options);
    });
    if (channel) {
      channel->send(encode_welcome(header->run, header->channel));
    }
  } catch (const std::exception&) {
    return;  // no socket to be had: the client asks again, and gives up in time
  }
}

std::shared_ptr<Channel> greet(const Address& server, const Opening& opening, const DatagramFamily& family,
                               const ChannelOptions& options, double timeout) {
  constexpr Nanoseconds kFirstPatience = 50 * kMillisecond;
  Socket socket = family.open(options);
  const auto& hello = opening.bytes;
  const Nanoseconds deadline = now() + from_seconds(timeout);
  // Hello and welcome may be lost: ask again, each time with twice the patience.
  for (Nanoseconds patience = kFirstPatience; now() < deadline; patience *= 2) {
    if (sendto(socket.fd(), hello.data(), hello.size(), MSG_NOSIGNAL | MSG_DONTWAIT, server.get(),
               server.size()) < 0 &&
        (errno == ECONNREFUSED || errno == ENOENT) && server.family() == AF_UNIX) {
      return nullptr;  // on one host nothing is lost: nobody listens
    }
    if (const auto own =
            await_welcome(socket, server, opening.header, std::min(deadline, now() + patience))) {
      connect_to(socket, *own);
      return family.channel(std::move(socket), options);
    }
  }
  return nullptr;
}

}  // namespace wulf::net
