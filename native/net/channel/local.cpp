#include "net/channel/local.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/json/error.hpp"

namespace wulf::net {
namespace {

constexpr std::size_t kMostFiles = 4;
constexpr Nanoseconds kHeaderPatience = 5 * kSecond;

struct ControlBytes {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostFiles * sizeof(int))> bytes{};
};

/// The files that a message brought (SCM_RIGHTS, unix(7)).
std::vector<Socket> files_of(const msghdr& message) {
  std::vector<Socket> files;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(const_cast<msghdr*>(&message), head)) {  // NOLINT: the macro takes no const
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    std::array<int, kMostFiles> numbers{};
    const std::size_t count = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    std::memcpy(numbers.data(), CMSG_DATA(head), std::min(count, kMostFiles) * sizeof(int));
    for (std::size_t i = 0; i < std::min(count, kMostFiles); ++i) {
      files.emplace_back(numbers[i]);
    }
  }
  return files;
}

}  // namespace

Address local_address(const Address& server, const std::string& transport) {
  return Address::local("wulf-net/" + transport + "/" + server.text() + "/" + std::to_string(server.port()));
}

Socket knock(const Address& server, const std::string& transport, const Opening& opening,
             const std::vector<int>& files) {
  Socket socket = Socket::create(AF_UNIX, SOCK_STREAM);
  const Address address = local_address(server, transport);
  if (::connect(socket.fd(), address.get(), address.size()) != 0) {
    throw Error("connect", "no server for " + transport + " of " + server.text() + " is on this node (" +
                               std::strerror(errno) + "): " + transport + " needs both ends on one node");
  }
  auto bytes = opening.bytes;
  iovec part{bytes.data(), bytes.size()};
  ControlBytes control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!files.empty()) {
    message.msg_control = control.bytes.data();
    message.msg_controllen = CMSG_SPACE(files.size() * sizeof(int));
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(files.size() * sizeof(int));
    std::memcpy(CMSG_DATA(head), files.data(), files.size() * sizeof(int));
  }
  if (sendmsg(socket.fd(), &message, MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) {
    throw system_error("peer-lost", "the server closed a local connection as it was opened", errno);
  }
  return socket;
}

LocalIntake::LocalIntake(const Address& address, Gate& gate, Make make)
    : listener_(Socket::create(AF_UNIX, SOCK_STREAM)),
      gate_(gate),
      make_(std::move(make)),
      stop_(Socket::event()) {
  constexpr int kBacklog = 128;
  listener_.bind(address);
  listener_.set_blocking(false);
  if (::listen(listener_.fd(), kBacklog) != 0) {
    throw system_error("address", "cannot listen at " + address.text(), errno);
  }
  thread_ = std::thread([this] { take_in(); });
}

LocalIntake::~LocalIntake() {
  eventfd_write(stop_.fd(), 1);
  thread_.join();
}

void LocalIntake::take_in() {
  constexpr int kTick = 100;  // ms: how late a silent connection may be given up
  while (true) {
    std::vector<pollfd> watched{{stop_.fd(), POLLIN, 0}, {listener_.fd(), POLLIN, 0}};
    for (const Waiter& waiter : waiting_) {
      watched.push_back({waiter.socket.fd(), POLLIN, 0});
    }
    poll(watched.data(), watched.size(), waiting_.empty() ? -1 : kTick);
    if (watched[0].revents != 0) {
      return;
    }
    std::size_t index = 2;
    for (auto waiter = waiting_.begin(); waiter != waiting_.end(); ++index) {
      const bool spoke = watched[index].revents != 0;
      if (spoke) {
        take(*waiter);
      }
      waiter = spoke || now() >= waiter->deadline ? waiting_.erase(waiter) : std::next(waiter);
    }
    if (watched[1].revents != 0) {
      accept_one();
    }
  }
}

void LocalIntake::accept_one() {
  Socket socket(accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC));
  if (socket.fd() < 0) {
    if (errno == EMFILE || errno == ENFILE) {
      // The connection stays in the backlog: without a pause this would spin until a descriptor is free.
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return;
  }
  if (waiting_.size() == kMostWaiting) {
    waiting_.pop_front();
  }
  waiting_.push_back({std::move(socket), now() + kHeaderPatience});
}

void LocalIntake::take(Waiter& waiter) {
  std::array<std::byte, Header::kSize> bytes{};
  iovec part{bytes.data(), bytes.size()};
  ControlBytes control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes.data();
  message.msg_controllen = control.bytes.size();
  const ssize_t got = recvmsg(waiter.socket.fd(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  std::vector<Socket> files = got < 0 ? std::vector<Socket>{} : files_of(message);
  const auto header = gate_.admit(std::span(bytes).first(got < 0 ? 0 : static_cast<std::size_t>(got)));
  if (!header) {
    return;
  }
  try {
    (void)gate_.join(*header, [&](const ChannelOptions& options) {
      return make_(std::move(waiter.socket), std::move(files), options);
    });
  } catch (const std::exception&) {
    return;  // no thread or memory to be had: the client sees his connection close
  }
}

}  // namespace wulf::net
