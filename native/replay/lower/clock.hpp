#pragma once

#include <cstdint>
#include <map>

#include "trace/format/record.hpp"

namespace wulf::replay {

/// How long a rank computed between its calls. Its threads have one sequence of operations in a program: what
/// they compute at the same time counts once.
class RankClock {
 public:
  /// `cost_ns`: what recording a call took, which lies in the gap of the thread's next call.
  explicit RankClock(std::uint64_t cost_ns) : cost_ns_(cost_ns) {}

  /// The computing before this record's call, in ns.
  [[nodiscard]] std::uint64_t computed_before(const trace::Record& record);

  /// Of a record of failed tests: the computing between them, in ns. A rank that polls without a pause waits;
  /// one that does something for longer than kPollNs between two tests computes.
  [[nodiscard]] std::uint64_t computed_between(const trace::Record& record) const;

  /// From the rank's begin to the end of its last call so far.
  [[nodiscard]] std::uint64_t end_ns() const { return end_ns_; }
  [[nodiscard]] bool threaded() const { return thread_end_.size() > 1; }

  /// A loop around a test takes some ten ns, and whatever else a library's progress takes lies in the call.
  static constexpr std::uint64_t kPollNs = 1000;

 private:
  std::uint64_t cost_ns_;
  std::uint64_t end_ns_ = 0;
  std::map<std::uint32_t, std::uint64_t> thread_end_;
};

}  // namespace wulf::replay
