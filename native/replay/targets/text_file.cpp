#include "replay/targets/text_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "core/json/error.hpp"

namespace wulf::replay {
namespace {

constexpr int kReadableByAll = 0644;

Error unwritable() { return system_error("write", "its text can't be written", errno); }

}  // namespace

TextFile::TextFile(const std::string& path)
    : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, kReadableByAll)) {
  if (descriptor_ < 0) {
    throw unwritable();
  }
}

TextFile::~TextFile() { ::close(descriptor_); }

void TextFile::write_out() {
  for (std::size_t done = 0; done < text_.size();) {
    const ssize_t written = ::write(descriptor_, text_.data() + done, text_.size() - done);
    if (written < 0 && errno != EINTR) {
      throw unwritable();
    }
    done += written < 0 ? 0 : static_cast<std::size_t>(written);
  }
  text_.clear();
}

}  // namespace wulf::replay
