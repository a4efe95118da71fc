#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>

#include "net/channel/transport.hpp"

namespace wulf::net {

/// A channel and what has passed over it. Only the lane's own thread counts; others read. On cache lines of
/// its own, so that lanes do not slow each other down.
struct alignas(64) Lane {
  std::shared_ptr<Channel> channel;
  std::uint32_t index = 0;  ///< within its run
  std::atomic<std::uint64_t> messages{0};
  std::atomic<std::uint64_t> bytes{0};
  /// Of a flow of datagrams, at its receiver: how many were sent from the first to the last of those that
  /// came, and how many came after a later one or twice.
  std::atomic<std::uint64_t> spanned{0};
  std::atomic<std::uint64_t> reordered{0};
  std::atomic<std::uint64_t> duplicates{0};

  /// A plain load and store: with one writer no locked instruction is needed.
  void count(std::uint64_t size, std::uint64_t number = 1) noexcept {
    add(messages, number);
    add(bytes, size);
  }
  static void add(std::atomic<std::uint64_t>& sum, std::uint64_t more) noexcept {
    sum.store(sum.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
  }
};

using Lanes = std::deque<Lane>;

/// Some of a run's lanes: those from the first to before the last.
struct Range {
  std::size_t first = 0;
  std::size_t last = SIZE_MAX;
};

/// What passed over all lanes by a time.
struct Passed {
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
  Nanoseconds at = 0;

  [[nodiscard]] static Passed by_now(const Lanes& lanes, const Range& range = {}) noexcept {
    Passed passed;
    for (std::size_t i = range.first; i < std::min(range.last, lanes.size()); ++i) {
      passed.messages += lanes[i].messages.load(std::memory_order_relaxed);
      passed.bytes += lanes[i].bytes.load(std::memory_order_relaxed);
    }
    passed.at = now();
    return passed;
  }

  /// Bytes a second from `earlier` to this.
  [[nodiscard]] double rate_since(const Passed& earlier) const noexcept {
    return static_cast<double>(bytes - earlier.bytes) / to_seconds(at - earlier.at);
  }
};

/// Tells for how long nothing has moved. Asks the channels, which costs system calls, only when the lanes'
/// own counts stand still: a single large message may take its time.
class Stall {
 public:
  explicit Stall(const Lanes& lanes) : lanes_(lanes), since_(now()) {}

  /// Seconds since the last sign of life.
  [[nodiscard]] double seconds() {
    std::uint64_t moved = Passed::by_now(lanes_).messages;
    if (moved == moved_) {
      std::uint64_t deeper = 0;
      for (const Lane& lane : lanes_) {
        deeper += lane.channel ? lane.channel->activity() : 0;
      }
      moved = deeper == deeper_ ? moved : moved + 1;
      deeper_ = deeper;
    }
    if (moved != moved_) {
      moved_ = Passed::by_now(lanes_).messages;
      since_ = now();
    }
    return to_seconds(now() - since_);
  }

 private:
  const Lanes& lanes_;
  std::uint64_t moved_ = 0;
  std::uint64_t deeper_ = 0;
  Nanoseconds since_;
};

}  // namespace wulf::net
