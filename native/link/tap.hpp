#pragma once

#include <string>
#include <utility>

namespace wulf::link {

/// A file descriptor that is closed with its owner.
class File {
 public:
  explicit File(int fd = -1) : fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~File();
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

/// Makes a TAP device named `device` in the network namespace that the file `netns` names ("/proc/1/ns/net"),
/// and returns its other end: each read(2) takes a whole frame that the device sends, each write(2) gives it
/// one. It does not block. The device is down, and goes with the descriptor. Throws Error "unsupported" where
/// this user may not, else "bad-parameter" or "internal".
[[nodiscard]] File open_tap(const std::string& netns, const std::string& device);

}  // namespace wulf::link
