#pragma once

#include <cstdint>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include "core/time/clock.hpp"

namespace wulf::node {

/// A counter that is cheaper to read than the clock, at a rate that TickRate finds. For loops that look for
/// gaps of some 100 ns.
[[nodiscard]] inline std::uint64_t ticks() noexcept {
#ifdef __x86_64__
  _mm_lfence();  // otherwise two looks overlap, and seem to be one tick apart
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t count = 0;
  asm volatile("mrs %0, cntvct_el0" : "=r"(count));  // NOLINT(hicpp-no-assembler): there is no other way
  return count;
#else
  return static_cast<std::uint64_t>(now());
#endif
}

/// How long a tick lasts, by the clock, from its making until it is asked.
class TickRate {
 public:
  [[nodiscard]] std::uint64_t start() const { return ticks_; }
  [[nodiscard]] double seconds_each() const noexcept {
    const std::uint64_t count = ticks() - ticks_;
    return count > 0 ? to_seconds(now() - time_) / static_cast<double>(count) : 0;
  }

 private:
  Nanoseconds time_ = now();
  std::uint64_t ticks_ = ticks();
};

}  // namespace wulf::node
