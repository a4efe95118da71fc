#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace wulf {

inline constexpr const char* kOwnSchedstat = "/proc/thread-self/schedstat";

/// /proc/<pid>/schedstat: nanoseconds on the CPU and waiting for it, and turns.
struct ScheduleStat {
  std::uint64_t ran;
  std::uint64_t waited;
  std::uint64_t turns;
};

/// None where malformed.
[[nodiscard]] std::optional<ScheduleStat> parse_schedstat(const std::string& text);

/// Of the calling thread. None where the kernel does not count it (CONFIG_SCHED_INFO).
[[nodiscard]] std::optional<ScheduleStat> own_schedstat();

}  // namespace wulf
