#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>

#include "core/time/clock.hpp"

namespace wulf::node {

/// What kind of thing takes a CPU.
enum class Source : std::uint8_t {
  kInterrupt,     ///< a device's handler, or one of the processor's own vectors
  kSoftirq,       ///< the part of an interrupt's work that the kernel puts off
  kTimer,         ///< a function that a timer calls
  kNmi,           ///< an interrupt that can't be masked
  kKernelThread,  ///< or the function that a worker among them calls
  kTask,          ///< a thread of a program
  kIdle,          ///< nothing: whoever would run was not allowed to
  kEntry,         ///< entering and leaving the kernel, choosing who runs, and the tracing itself
  kUnexplained,   ///< no tracepoint was passed: hypervisor, firmware, or what has no tracepoint
  kUnknown,       ///< records were lost
};
inline constexpr std::size_t kSources = 10;

/// As answers name it: "interrupt", "kernel_thread".
[[nodiscard]] const char* name_of(Source source) noexcept;

/// Who took a CPU.
struct Culprit {
  Source source = Source::kUnknown;
  std::string name;           ///< of an interrupt, a softirq, a function, a task
  std::int64_t pid = 0;       ///< of a task, in the machine's first PID namespace; 0 for all others
  std::uint64_t address = 0;  ///< of a function that still has no name

  friend auto operator<=>(const Culprit&, const Culprit&) = default;
};

/// What one tracepoint's record means.
struct Event {
  enum class Kind : std::uint8_t {
    kSwitch,  ///< the task `pid` leaves the CPU to `who`
    kEnter,   ///< `who` begins within whatever runs
    kLeave,   ///< what began with this source and `id` is over
    kSpan,    ///< `who` took the last `length`
    kLost,    ///< what happened since the record before is unknown
  };

  Kind kind = Kind::kLost;
  Nanoseconds at = 0;
  Culprit who{};
  std::uint64_t id = 0;
  Nanoseconds length = 0;
  std::int64_t thread = 0;  ///< that task, as our PID namespace numbers it
  bool runnable = false;    ///< of a switch: whether the task that leaves would rather run on
  std::int64_t pid = 0;     ///< the task that had the CPU
  // gcc warns of members that a designated list leaves out, unless they have an initializer
  // NOLINTBEGIN(readability-redundant-member-init)
  std::string leaving{};               ///< of a switch: that task's name
  std::optional<bool> in_user_task{};  ///< whether that task is a program's; not known of one that is ending
  // NOLINTEND(readability-redundant-member-init)
};

}  // namespace wulf::node
