// errqueue.h needs timespec, and does not say so.
// clang-format off
#include <ctime>
#include <linux/errqueue.h>
// clang-format on
#include <netinet/in.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "core/json/error.hpp"
#include "net/channel/stream.hpp"

namespace wulf::net {
namespace {

/// sendfile(2) from a file in memory, which holds what the longest message held when it was first sent.
class FileSender final : public Sender {
 public:
  FileSender() : file_(memfd_create("wulf-net", MFD_CLOEXEC)) {
    if (file_.fd() < 0) {
      throw system_error("limit", "cannot make a file in memory", errno);
    }
  }

  ssize_t send(int socket, std::span<const std::byte> message) noexcept override {
    if (message.size() > size_ && !fill(message)) {
      return -1;
    }
    off_t offset = 0;
    return sendfile(socket, file_.fd(), &offset, message.size());
  }

  [[nodiscard]] std::vector<int> files() const override { return {file_.fd()}; }

 private:
  bool fill(std::span<const std::byte> message) noexcept {
    const ssize_t wrote = pwrite(file_.fd(), message.data(), message.size(), 0);
    if (wrote != static_cast<ssize_t>(message.size())) {
      return false;
    }
    size_ = message.size();
    return true;
  }

  Socket file_;
  std::size_t size_ = 0;
};

/// MSG_ZEROCOPY: the device takes the bytes from our memory. That the memory is used again before it is free
/// is of no harm here, since all messages look alike. Some paths copy all the same, which info() tells.
class ZeroCopySender final : public Sender {
 public:
  explicit ZeroCopySender(const Socket& socket) {
    const int on = 1;
    if (setsockopt(socket.fd(), SOL_SOCKET, SO_ZEROCOPY, &on, sizeof(on)) != 0) {
      throw bad_parameter("sending",
                          std::string("the system has no zero-copy sending here: ") + std::strerror(errno));
    }
  }

  ssize_t send(int socket, std::span<const std::byte> message) noexcept override {
    constexpr std::uint64_t kBetween = 16;
    if (++calls_ % kBetween == 0) {
      collect(socket);
    }
    const ssize_t sent = ::send(socket, message.data(), message.size(), MSG_NOSIGNAL | MSG_ZEROCOPY);
    if (sent < 0 && errno == ENOBUFS) {  // too many completions are outstanding
      collect(socket);
      errno = EINTR;  // try again
    }
    return sent;
  }

  [[nodiscard]] Json info() const override {
    return {{"zerocopy", {{"calls", calls_}, {"completed", completed_}, {"copied", copied_}}}};
  }

 private:
  /// Takes the completions from the socket's error queue (Documentation/networking/msg_zerocopy.rst).
  void collect(int socket) noexcept {
    alignas(cmsghdr) std::array<char, 128> control{};
    while (true) {
      msghdr message{};
      message.msg_control = control.data();
      message.msg_controllen = control.size();
      if (recvmsg(socket, &message, MSG_ERRQUEUE | MSG_DONTWAIT) < 0) {
        return;
      }
      for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
        sock_extended_err error{};
        std::memcpy(&error, CMSG_DATA(head), sizeof(error));
        if (error.ee_origin == SO_EE_ORIGIN_ZEROCOPY) {
          // NOLINTNEXTLINE(cppcoreguidelines-pro-type-union-access): newer headers name the field so
          const std::uint64_t range = error.ee_data - error.ee_info + 1U;
          completed_ += range;
          copied_ += (error.ee_code & SO_EE_CODE_ZEROCOPY_COPIED) != 0 ? range : 0;
        }
      }
    }
  }

  std::uint64_t calls_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t copied_ = 0;
};

}  // namespace

std::unique_ptr<Sender> Sender::make(const Socket& socket, Sending sending) {
  switch (sending) {
    case Sending::kSendfile:
      return std::make_unique<FileSender>();
    case Sending::kZeroCopy:
      return std::make_unique<ZeroCopySender>(socket);
    case Sending::kSegments:
      throw bad_parameter("sending", "gso is for udp: a byte stream has no datagrams to cut");
    case Sending::kCopy:
      break;
  }
  return nullptr;
}

}  // namespace wulf::net
