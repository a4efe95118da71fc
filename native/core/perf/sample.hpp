#pragma once

#include <cstdint>
#include <optional>

#include "core/perf/event_format.hpp"
#include "core/time/clock.hpp"

namespace wulf {

/// A record of a ring of perf_event_open(2), as `EventRing` asks for them.
struct PerfRecord {
  enum class Kind { kSample, kLost };

  Kind kind = Kind::kSample;
  Nanoseconds at = 0;
  Bytes raw;                 ///< of a sample: the tracepoint's own record
  bool in_user_task = true;  ///< of a sample: whether the task that was current has memory of its own
  std::int32_t thread = 0;   ///< of a sample: that task, as our PID namespace numbers it; 0: it is not in it
  std::uint64_t lost = 0;    ///< records that had no room since the last one
};

/// Decodes one record with its header; nothing where it is of another kind, or too short for what it says.
[[nodiscard]] std::optional<PerfRecord> parse_perf_record(Bytes record) noexcept;

}  // namespace wulf
