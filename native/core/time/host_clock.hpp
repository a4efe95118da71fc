#pragma once

#include "core/json/json.hpp"
#include "core/time/clock.hpp"

namespace wulf {

/// The time of day, which hosts may share: nanoseconds since 1970. It may be stepped.
[[nodiscard]] Nanoseconds time_of_day() noexcept;

/// How far this host's time of day may be off, as its kernel knows: {"boot_id", "synchronised", "max_error"
/// (s), "estimated_error" (s)}. The errors are those that the kernel's clock discipline was told by NTP or
/// PTP (ntp_adjtime(3)); null where it is not synchronised. The boot id tells hosts that share one kernel,
/// and so one clock.
[[nodiscard]] Json describe_host_clock();

}  // namespace wulf
