#pragma once

#include <cstdint>

#include "core/time/clock.hpp"

namespace wulf::mpi {

/// The sum of many short times, of which after the first 64 only every `stride`-th is measured: a clock
/// reading costs as much as some of them last. The first ones are all measured, as they are the longest.
class SampledTime {
 public:
  explicit SampledTime(std::uint64_t stride) : stride_(stride) {}

  /// Whether the next one is to be measured.
  [[nodiscard]] bool due() noexcept {
    const std::uint64_t call = calls_++;
    early_ = call < kEarly;
    return early_ || call % stride_ == 0;
  }

  /// It was due, and lasted so long for so many units.
  void add(Nanoseconds time, std::uint64_t units = 1) noexcept {
    (early_ ? first_ : later_) += time;
    timed_ += early_ ? 0 : units;
    skip(units);
  }

  /// It was not due.
  void skip(std::uint64_t units = 1) noexcept { (early_ ? first_units_ : later_units_) += units; }

  /// In all: those not measured count as the later ones that were, or as the first ones where none was.
  [[nodiscard]] double seconds() const noexcept {
    const auto measured = static_cast<double>(timed_ > 0 ? later_ : first_);
    const auto units = static_cast<double>(timed_ > 0 ? timed_ : first_units_);
    const double rest = units > 0 ? measured / units * static_cast<double>(later_units_) : 0;
    return (static_cast<double>(first_) + rest) / static_cast<double>(kSecond);
  }

 private:
  static constexpr std::uint64_t kEarly = 64;

  std::uint64_t stride_;
  std::uint64_t calls_ = 0;
  bool early_ = true;
  Nanoseconds first_ = 0;
  Nanoseconds later_ = 0;
  std::uint64_t first_units_ = 0;
  std::uint64_t later_units_ = 0;
  std::uint64_t timed_ = 0;
};

}  // namespace wulf::mpi
