#include "replay/lower/clock.hpp"

#include <algorithm>

#include "core/json/error.hpp"
#include "replay/program/operation.hpp"

namespace wulf::replay {
namespace {

constexpr std::uint64_t kMostNs = kMostCompute / kPerNanosecond;

/// A moment of the run and what comes after it. Throws `trace` where that is beyond any run.
std::uint64_t later(std::uint64_t moment, std::uint64_t ns) {
  if (ns > kMostNs - moment) {
    throw Error("trace", "its times come to more than 53 days: the file is damaged; trace again");
  }
  return moment + ns;
}

}  // namespace

std::uint64_t RankClock::computed_before(const trace::Record& record) {
  const auto [place, is_first] = thread_end_.try_emplace(record.thread, 0);
  const std::uint64_t begin = later(place->second, record.gap_ns);
  place->second = later(later(begin, record.call_ns), record.between_ns);
  const std::uint64_t computed = begin > end_ns_ ? begin - end_ns_ : 0;
  end_ns_ = std::max(end_ns_, place->second);
  return is_first ? computed : computed - std::min(computed, cost_ns_);
}

std::uint64_t RankClock::computed_between(const trace::Record& record) const {
  if (record.count < 2 || record.between_ns / (record.count - 1) <= kPollNs) {
    return 0;
  }
  const std::uint64_t pauses = record.count - 1;
  return record.between_ns / pauses >= cost_ns_ ? record.between_ns - (cost_ns_ * pauses) : 0;
}

}  // namespace wulf::replay
