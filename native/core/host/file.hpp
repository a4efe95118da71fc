#pragma once

#include <unistd.h>

#include <utility>

namespace wulf {

/// A file descriptor and its end.
class File {
 public:
  File() = default;
  explicit File(int fd) noexcept : fd_(fd) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  File& operator=(File&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~File() { close(); }

  [[nodiscard]] int fd() const noexcept { return fd_; }

  void close() noexcept {
    if (fd_ >= 0) {
      ::close(std::exchange(fd_, -1));
    }
  }

 private:
  int fd_ = -1;
};

}  // namespace wulf
