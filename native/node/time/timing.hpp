#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "core/stats/summary.hpp"
#include "core/time/clock.hpp"

namespace wulf::node {

/// A value must not be computed away: the compiler has to have it in a register or in memory here.
template <typename T>
inline void keep(T& value) noexcept {
  // NOLINTNEXTLINE(hicpp-no-assembler): nothing else binds a compiler, and it costs no instruction
  asm volatile("" : "+r,m"(value) : : "memory");
}

/// What memory holds must not be assumed: the compiler has to write it before, and to read it again after.
inline void keep_memory() noexcept {
  asm volatile("" : : : "memory");  // NOLINT(hicpp-no-assembler)
}

/// Seconds an operation took, one figure a batch.
class Samples {
 public:
  void add(double seconds_each, std::uint64_t operations) {
    each_.push_back(seconds_each);
    operations_ += operations;
    spent_ += seconds_each * static_cast<double>(operations);
  }

  [[nodiscard]] bool empty() const { return each_.empty(); }
  [[nodiscard]] std::size_t size() const { return each_.size(); }
  [[nodiscard]] std::uint64_t operations() const { return operations_; }
  /// Seconds that all batches took together.
  [[nodiscard]] double spent() const { return spent_; }
  [[nodiscard]] double median() const;
  [[nodiscard]] double least() const { return *std::min_element(each_.begin(), each_.end()); }
  [[nodiscard]] double mean() const;
  [[nodiscard]] double deviation() const;

  /// The same with so many seconds taken off every operation.
  [[nodiscard]] Samples less(double seconds_each) const;

  /// The same where each operation was in truth `parts` of them, as a round trip is two ways, or a
  /// loop's body is unrolled.
  [[nodiscard]] Samples split(std::uint64_t parts) const;

  /// {"unit", "value": the median, "n": operations, "batches", "mean", "min", "max", "deviation",
  /// "quantiles"}.
  [[nodiscard]] Json metric() const;
  /// The same, or no value for that reason where the median is not above 0: of what `less` leaves, on a
  /// machine that was disturbed.
  [[nodiscard]] Json metric_above_zero(const std::string& reason) const;

  /// The same as a rate: `per_operation` (bytes, operations …) by the time of one; "value" is the median.
  [[nodiscard]] Json rate(const std::string& unit, double per_operation = 1) const;

 private:
  std::vector<double> each_;
  std::uint64_t operations_ = 0;
  double spent_ = 0;
};

/// A batch lasts so long that reading the clock at both its ends is less than a thousandth of it.
inline constexpr Nanoseconds kBatch = 100 * kMicrosecond;

/// How many operations a batch needs to last kBatch; they double until it does. This is the warm-up, too.
template <typename Body>
[[nodiscard]] std::uint64_t calibrate(Body& body, Nanoseconds batch = kBatch) {
  constexpr std::uint64_t kMost = 1ULL << 40U;
  std::uint64_t count = 1;
  while (count < kMost) {
    const Nanoseconds start = now();
    body(count);
    Nanoseconds spent = now() - start;
    if (spent >= batch) {
      const Nanoseconds again = now();  // it may have been long because something else ran
      body(count);
      spent = std::min(spent, now() - again);
    }
    if (spent >= batch / 2) {
      break;
    }
    // towards the aim at once, but never by more than the clock can be trusted for
    const auto wanted =
        spent > 0 ? static_cast<double>(count) * static_cast<double>(batch) / static_cast<double>(spent) : 0;
    count = std::clamp(static_cast<std::uint64_t>(wanted * 1.1), count * 2, count * 16);
  }
  return count;
}

/// Times `body(count)`, which does `count` operations, in batches for `seconds`, after a warm-up. At least
/// three batches, however long they take.
template <typename Body>
[[nodiscard]] Samples time_batches(Body body, double seconds) {
  constexpr std::size_t kLeast = 3;
  const std::uint64_t count = calibrate(body);
  Samples samples;
  const Nanoseconds end = now() + from_seconds(seconds);
  Nanoseconds before = now();
  while (samples.size() < kLeast || before < end) {
    body(count);
    const Nanoseconds after = now();
    samples.add(to_seconds(after - before) / static_cast<double>(count), count);
    before = now();
  }
  return samples;
}

/// The same of several bodies, a batch of each in turn: what the host does meanwhile meets them alike, so
/// that one may be taken off another.
template <std::size_t number>
[[nodiscard]] std::array<Samples, number> time_in_turn(
    std::array<std::function<void(std::uint64_t)>, number> bodies, double seconds) {
  constexpr std::size_t kLeast = 3;
  std::array<std::uint64_t, number> counts{};
  std::transform(bodies.begin(), bodies.end(), counts.begin(), [](auto& body) { return calibrate(body); });
  std::array<Samples, number> samples;
  const Nanoseconds end = now() + from_seconds(seconds);
  while (samples.back().size() < kLeast || now() < end) {
    for (std::size_t i = 0; i < number; ++i) {
      const Nanoseconds start = now();
      bodies[i](counts[i]);
      samples[i].add(to_seconds(now() - start) / static_cast<double>(counts[i]), counts[i]);
    }
  }
  return samples;
}

}  // namespace wulf::node
