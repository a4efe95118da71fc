#pragma once

#include <cstdint>
#include <ctime>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

namespace wulf::interpose {

inline constexpr std::uint64_t nano = 1'000'000'000;

/// Nanoseconds of CLOCK_MONOTONIC: 20 to 30 ns by way of the vDSO.
inline std::uint64_t monotonic() {
  timespec at{};
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (static_cast<std::uint64_t>(at.tv_sec) * nano) + static_cast<std::uint64_t>(at.tv_nsec);
}

/// Whether the processor's own counter may be read instead of the clock, decided once before the first call
/// is timed.
inline bool counts_cycles = false;

/// Whether this processor has a counter that goes at one rate whatever the clock frequency, and the kernel
/// trusts it.
bool has_steady_counter();

/// A moment, in ticks whose length is found out at the end, from the clock at both ends of the run.
inline std::uint64_t ticks() {
#ifdef __x86_64__
  if (counts_cycles) {
    return __rdtsc();
  }
#elif defined(__aarch64__)
  if (counts_cycles) {
    std::uint64_t now = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(now));
    return now;
  }
#endif
  return monotonic();
}

}  // namespace wulf::interpose
