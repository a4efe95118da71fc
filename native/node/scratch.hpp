#pragma once

#include <cstddef>
#include <string>

#include "core/params.hpp"

namespace wulf::node {

/// The parameter `folder`: where a probe's file lies.
[[nodiscard]] Param folder_param();

/// A file without a name, of `bytes` zeros that take no room until they are written. It goes with this
/// object.
class ScratchFile {
 public:
  /// `folder` "" = $TMPDIR, or /tmp. Throws Error "bad-parameter" where no file can be made there.
  ScratchFile(const std::string& folder, std::size_t bytes);
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
