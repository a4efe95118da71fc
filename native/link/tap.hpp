#pragma once

#include <string>

#include "core/host/file.hpp"

namespace wulf::link {

/// Makes a TAP device named `device` in the network namespace that the file `netns` names ("/proc/1/ns/net"),
/// and returns its other end: each read(2) takes a whole frame that the device sends, each write(2) gives it
/// one. It does not block. The device is down, and goes with the descriptor. Throws Error "unsupported" where
/// this user may not, else "bad-parameter" or "internal".
[[nodiscard]] File open_tap(const std::string& netns, const std::string& device);

}  // namespace wulf::link
