#include "core/json/lines.hpp"

#include <poll.h>
#include <unistd.h>

#include <cerrno>

namespace wulf {

std::optional<LineSplitter::Line> LineSplitter::next() {
  const std::size_t end = pending_.find('\n');
  if (end == std::string::npos) {
    if (pending_.size() > longest_) {
      skipping_ = true;
      pending_.clear();
    }
    return std::nullopt;
  }
  Line line{pending_.substr(0, end), skipping_ || end > longest_};
  pending_.erase(0, end + 1);
  skipping_ = false;
  if (line.too_long) {
    line.text.clear();
  }
  return line;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written > 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd writable{fd, POLLOUT, 0};
      poll(&writable, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace wulf
