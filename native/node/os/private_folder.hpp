#pragma once

#include <string>

#include "core/host/file.hpp"
#include "core/json/json.hpp"
#include "core/json/params.hpp"

namespace wulf::node {

/// The parameter `folder` of probes that write files.
[[nodiscard]] Param folder_param();

/// A fresh folder that nobody else may enter. A process of its own, which waits for the end of this object or
/// of this program, removes it with all files inside: so it goes even after kill -9.
class PrivateFolder {
 public:
  /// Throws bad-parameter unless `parent` is absolute, and Unavailable where no folder can be made there.
  explicit PrivateFolder(const std::string& parent);
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  PrivateFolder(PrivateFolder&&) = delete;
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  /// Returns when it is gone.
  ~PrivateFolder();

  [[nodiscard]] int fd() const { return folder_.fd(); }

 private:
  void open_below(const std::string& parent);
  void release() noexcept;

  std::string path_;
  File lifeline_;  ///< as long as it is open, the folder stays
  int sweeper_ = 0;
  File folder_;
};

}  // namespace wulf::node
