#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace wulf {

/// A log-linear histogram of nanoseconds in fixed memory: recording is O(1) and never allocates.
///
/// Each octave is cut into 256 equal buckets, so that a quantile is wrong by less than 1/256 of its value
/// from 1 ns to 137 s; values above count in the last bucket. Count, sum, least and greatest value are exact.
/// Scheme: Gil Tene's HdrHistogram (https://hdrhistogram.org).
class Histogram {
 public:
  void record(std::int64_t value) noexcept {
    const auto sample = static_cast<std::uint64_t>(std::max<std::int64_t>(value, 0));
    ++buckets_[bucket_of(sample)];
    ++count_;
    sum_ += static_cast<double>(sample);
    least_ = std::min(least_, sample);
    greatest_ = std::max(greatest_, sample);
  }

  /// Adds the other's samples to these.
  void merge(const Histogram& other) noexcept;

  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// The moments and quantiles below are 0 while nothing is recorded: ask count() first.
  [[nodiscard]] std::uint64_t least() const noexcept { return count_ == 0 ? 0 : least_; }
  [[nodiscard]] std::uint64_t greatest() const noexcept { return greatest_; }
  [[nodiscard]] double mean() const noexcept;

  /// The standard deviation of the samples, each taken in the middle of its bucket; 0 for fewer than two.
  [[nodiscard]] double deviation() const noexcept;

  /// The value below which the fraction `q` (0 to 1) of the samples lies, interpolated within its bucket.
  [[nodiscard]] double quantile(double q) const noexcept;

  /// A mode: where it is highest, and the share of the samples between its neighbouring valleys.
  struct Peak {
    double at;
    double share;
  };

  /// The modes, lowest value first. One counts from 1 % of all samples in a 32nd of an octave on, where the
  /// count falls below half of it on both sides, beyond chance.
  [[nodiscard]] std::vector<Peak> peaks() const;

  static constexpr unsigned kSubBits = 8;
  static constexpr std::uint64_t kSubBuckets = 1U << kSubBits;
  static constexpr std::uint64_t kGreatest = (std::uint64_t{1} << 37U) - 1;  // 137 s

  /// Values below 512 have buckets of their own; above, the leading nine bits choose the bucket.
  [[nodiscard]] static constexpr std::size_t bucket_of(std::uint64_t value) noexcept {
    const std::uint64_t sample = std::min(value, kGreatest);
    const unsigned shift = shift_of(sample);
    return static_cast<std::size_t>((shift * kSubBuckets) + (sample >> shift));
  }
  [[nodiscard]] static constexpr std::uint64_t bucket_low(std::size_t bucket) noexcept {
    const std::uint64_t shift = bucket_shift(bucket);
    return (bucket - (shift * kSubBuckets)) << shift;
  }
  [[nodiscard]] static constexpr std::uint64_t bucket_width(std::size_t bucket) noexcept {
    return std::uint64_t{1} << bucket_shift(bucket);
  }

 private:
  [[nodiscard]] static constexpr std::uint64_t bucket_shift(std::size_t bucket) noexcept {
    constexpr std::uint64_t kShiftBits = 63;  // no bucket shifts by so much; the analyzer cannot know
    return bucket < 2 * kSubBuckets ? 0 : ((bucket / kSubBuckets) - 1) & kShiftBits;
  }
  [[nodiscard]] static constexpr unsigned shift_of(std::uint64_t value) noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(value));
    return width > kSubBits + 1 ? width - kSubBits - 1 : 0;
  }
  static constexpr std::size_t kBuckets = (37 - kSubBits - 1 + 2) * kSubBuckets;

  std::array<std::uint64_t, kBuckets> buckets_{};
  std::uint64_t count_ = 0;
  std::uint64_t least_ = UINT64_MAX;
  std::uint64_t greatest_ = 0;
  double sum_ = 0;
};

}  // namespace wulf
