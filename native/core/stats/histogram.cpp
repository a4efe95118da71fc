#include "core/stats/histogram.hpp"

#include <cmath>

namespace wulf {

void Histogram::merge(const Histogram& other) noexcept {
  for (std::size_t i = 0; i < kBuckets; ++i) {
    buckets_[i] += other.buckets_[i];
  }
  count_ += other.count_;
  sum_ += other.sum_;
  least_ = std::min(least_, other.least_);
  greatest_ = std::max(greatest_, other.greatest_);
}

double Histogram::mean() const noexcept { return count_ == 0 ? 0 : sum_ / static_cast<double>(count_); }

double Histogram::deviation() const noexcept {
  if (count_ < 2) {
    return 0;
  }
  const double center = mean();
  double squares = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    if (buckets_[i] > 0) {
      const double off =
          static_cast<double>(bucket_low(i)) + (static_cast<double>(bucket_width(i) - 1) / 2) - center;
      squares += static_cast<double>(buckets_[i]) * off * off;
    }
  }
  return std::sqrt(squares / static_cast<double>(count_ - 1));
}

double Histogram::quantile(double q) const noexcept {
  if (count_ == 0) {
    return 0;
  }
  const double rank = std::clamp(q, 0.0, 1.0) * static_cast<double>(count_ - 1);
  double below = 0;
  std::size_t bucket = 0;
  while (bucket + 1 < kBuckets && below + static_cast<double>(buckets_[bucket]) <= rank) {
    below += static_cast<double>(buckets_[bucket]);
    ++bucket;
  }
  // The bucket's samples are taken as spread evenly over the whole numbers that it covers.
  const auto inside = static_cast<double>(std::max<std::uint64_t>(buckets_[bucket], 1));
  const double share = (rank - below + 0.5) / inside;
  const double value =
      static_cast<double>(bucket_low(bucket)) + (share * static_cast<double>(bucket_width(bucket) - 1));
  return std::clamp(value, static_cast<double>(least_), static_cast<double>(greatest_));
}

std::vector<Histogram::Peak> Histogram::peaks() const {
  constexpr std::size_t kJoined = 8;     // buckets: a 32nd of an octave, 2 to 3 %
  constexpr std::uint64_t kShare = 100;  // of all samples one in so many, in the mode's highest bin,
  constexpr std::uint64_t kFewest = 8;   // and never fewer than these, which chance may heap
  // Twice as high as the valleys beside it, and beyond what chance makes of so few: two Poisson deviations.
  const auto stands_over = [](std::uint64_t high, std::uint64_t low) {
    return static_cast<double>(high) >
           (2 * static_cast<double>(low)) + (2 * std::sqrt(static_cast<double>(high)));
  };
  const std::uint64_t least = std::max(count_ / kShare, kFewest);
  std::vector<Peak> found;
  std::uint64_t highest = 0;
  std::uint64_t valley = 0;  // the lowest bin since the highest
  std::uint64_t inside = 0;
  std::size_t top = 0;
  const auto close = [&] {
    if (highest >= least) {
      found.push_back({static_cast<double>(bucket_low(top + (kJoined / 2))),
                       static_cast<double>(inside) / static_cast<double>(count_)});
      inside = 0;
    }
    highest = 0;
  };
  for (std::size_t low = 0; low < kBuckets; low += kJoined) {
    std::uint64_t here = 0;
    for (std::size_t i = low; i < low + kJoined; ++i) {
      here += buckets_[i];
    }
    if (here >= least && stands_over(highest, valley) && stands_over(here, valley)) {
      close();
    }
    valley = here > highest ? here : std::min(valley, here);
    top = here > highest ? low : top;
    highest = std::max(highest, here);
    inside += here;
  }
  close();
  return found;
}

}  // namespace wulf
