#include "node/memory/line_size.hpp"

#include <algorithm>

namespace wulf::node {
namespace {

constexpr double kLeastStep = 0.2;  ///< a second miss, in parts of the first: less is no miss
constexpr double kHit = 0.12;       ///< of the step: below it is a hit
constexpr double kMiss = 0.18;      ///< of the step: above it is none

}  // namespace

LineFound find_line(const std::vector<PairTime>& times) {
  const double base = times.front().seconds;
  double step = 0;
  for (const PairTime& time : times) {
    step = std::max(step, time.seconds - base);
  }
  if (step < kLeastStep * base) {
    return {0, "no distance makes a second load miss: memory is as fast as the cache here"};
  }
  const auto first = std::find_if(times.begin(), times.end(),
                                  [&](const PairTime& t) { return t.seconds - base > kHit * step; });
  const bool clear =
      std::all_of(first, times.end(), [&](const PairTime& t) { return t.seconds - base > kMiss * step; });
  if (!clear) {
    return {0, "the times do not part into hits and misses: noise, or a prefetcher"};
  }
  return {first->distance, ""};
}

}  // namespace wulf::node
