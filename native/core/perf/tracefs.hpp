#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/host/file.hpp"

namespace wulf {

/// The kernel's tracefs, read only: where it is mounted already, else through a mount that has no place in
/// any folder (fsopen, fsmount: Linux 5.2) and goes with this object, so that the host stays as it is.
class Tracefs {
 public:
  /// Throws std::system_error, whose words say what was refused.
  Tracefs();

  /// The whole of a file below tracefs: "events/sched/sched_switch/format"; nothing where it can't be read.
  [[nodiscard]] std::optional<std::string> read(const std::string& path) const;

  /// The names in a folder, in order; none where it can't be read.
  [[nodiscard]] std::vector<std::string> list(const std::string& path) const;

 private:
  File root_;
};

}  // namespace wulf
