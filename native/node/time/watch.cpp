#include "node/time/watch.hpp"

#include <algorithm>

#include "node/time/ticks.hpp"

namespace wulf::node {

std::uint64_t least_step() {
  constexpr int kLooks = 20'000;
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t last = ticks();
  for (int i = 0; i < kLooks; ++i) {
    const std::uint64_t next = ticks();
    least = std::min(least, next - last);
    last = next;
  }
  return std::max<std::uint64_t>(least, 1);  // a slow counter shows the same twice
}

Watch watch(std::uint64_t span, std::uint64_t minimum, std::uint64_t limit) {
  Watch seen;
  seen.minimum = minimum;
  seen.gaps.resize(kMostGaps);  // touched, so that noting one costs no page fault
  std::size_t count = 0;
  const std::uint64_t start = ticks();
  std::uint64_t last = start;
  while (last - start < span && count < kMostGaps) {
    const std::uint64_t next = ticks();
    const std::uint64_t step = next - last;
    if (step > limit) [[unlikely]] {
      seen.gaps[count++] = {last - start, step};
    } else {
      seen.longest = std::max(seen.longest, step);
    }
    last = next;
  }
  seen.start = start;
  seen.elapsed = last - start;
  seen.gaps.resize(count);
  return seen;
}

}  // namespace wulf::node
