#pragma once

#include <cstddef>
#include <string>

namespace wulf::node {

/// A file without a name, of `bytes` that were written a moment ago, so that it is in the page cache. It goes
/// with this object.
class ScratchFile {
 public:
  /// Throws Unavailable where no file can be made in `folder`.
  ScratchFile(std::string folder, std::size_t bytes);
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  ScratchFile(ScratchFile&&) = delete;
  ScratchFile& operator=(ScratchFile&&) = delete;
  ~ScratchFile();

  [[nodiscard]] int file() const { return file_; }
  [[nodiscard]] const std::string& folder() const { return folder_; }

 private:
  std::string folder_;
  int file_ = -1;
};

}  // namespace wulf::node
