#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "replay/program/program.hpp"

namespace wulf::replay {

/// Something that happens at a time; of several at one time, the least key is first.
struct Event {
  Picoseconds time;
  std::uint64_t key;
};

/// Events in the order of (time, key). None may be added for a time before the last one that was taken, for
/// which a radix heap suffices (Ahuja, Mehlhorn, Orlin, Tarjan: "Faster algorithms for the shortest path
/// problem", J. ACM 37 (1990)): events lie in buckets by the highest bit in which their time differs from the
/// last one's, and move only to lower ones. Measured beside a binary heap:
/// docs/how-it-works/replay-contention.md.
class EventQueue {
 public:
  [[nodiscard]] bool empty() const { return filled_ == 0 && sorted_.empty() && late_.empty(); }

  void push(Event event) {
    if (event.time == last_) {
      add_late(event.key);
    } else {
      add(event);
    }
  }

  /// Takes the first event. The queue must not be empty.
  [[nodiscard]] Event pop() {
    if (sorted_.empty() && late_.empty()) {
      refill();
    }
    if (late_.empty() || (!sorted_.empty() && sorted_.back() <= late_.front())) {
      const std::uint64_t key = sorted_.back();
      sorted_.pop_back();
      return {last_, key};
    }
    return {last_, take_late()};
  }

 private:
  static constexpr unsigned kBuckets = 64;

  void add(Event event) {
    const auto difference = static_cast<std::uint64_t>(event.time ^ last_);
    const unsigned bucket = kBuckets - 1U - static_cast<unsigned>(std::countl_zero(difference));
    buckets_[bucket].push_back(event);
    filled_ |= 1ULL << bucket;
  }

  void add_late(std::uint64_t key);
  [[nodiscard]] std::uint64_t take_late();
  void refill();

  Picoseconds last_ = 0;
  std::uint64_t filled_ = 0;           ///< a bit for each bucket that holds something
  std::vector<std::uint64_t> sorted_;  ///< keys of time last_; the first one last
  std::vector<std::uint64_t> spare_;   ///< for their sort
  std::vector<std::uint64_t> late_;    ///< keys of time last_, added since: a binary heap
  std::array<std::vector<Event>, kBuckets> buckets_;
};

}  // namespace wulf::replay
