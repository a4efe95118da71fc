#include "replay/lower_clock.hpp"

#include <algorithm>

namespace wulf::replay {

std::uint64_t RankClock::computed_before(const trace::Record& record) {
  const auto [place, is_first] = thread_end_.try_emplace(record.thread, 0);
  const std::uint64_t begin = place->second + record.gap_ns;
  place->second = begin + record.call_ns + record.between_ns;
  const std::uint64_t computed = begin > end_ns_ ? begin - end_ns_ : 0;
  end_ns_ = std::max(end_ns_, place->second);
  return is_first ? computed : computed - std::min(computed, cost_ns_);
}

std::uint64_t RankClock::computed_between(const trace::Record& record) const {
  if (record.count < 2 || record.between_ns / (record.count - 1) <= kPollNs) {
    return 0;
  }
  return record.between_ns - std::min(record.between_ns, cost_ns_ * (record.count - 1));
}

}  // namespace wulf::replay
