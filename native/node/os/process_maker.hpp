#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/host/file.hpp"
#include "core/time/clock.hpp"
#include "node/os/child.hpp"

namespace wulf::node {

/// Arguments that no help names, which make this program another one, before it has set up anything.
///
/// With kNothing it ends at once: the least that a static program can be. With kMakeProcesses it makes
/// processes on request, for ProcessMaker: a small process of one thread, as most are that fork. The session
/// itself has several threads and more memory, and needs twice as long.
inline constexpr const char* kNothing = "--nothing";
inline constexpr const char* kMakeProcesses = "--make-processes";

/// A process that makes others, one after the other, and waits for each. It ends with this object.
class ProcessMaker {
 public:
  /// `how` is fork (no words), exec or spawn (the words of a command, the path first). Throws Unavailable.
  ProcessMaker(const std::string& how, const std::vector<std::string>& words);

  /// Makes so many; how long that took. Throws Unavailable where one could not be made, or failed.
  [[nodiscard]] Nanoseconds make(std::uint64_t count);

 private:
  std::string what_;
  File requests_;
  File replies_;
  std::vector<Child> maker_;
};

}  // namespace wulf::node
