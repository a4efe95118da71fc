#pragma once

#include <cstdint>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "replay/engine_a/costs.hpp"
#include "replay/engine_a/lanes.hpp"
#include "replay/program/array.hpp"
#include "replay/run/run.hpp"

namespace wulf::replay {

/// Memory for vectors of lanes.
template <typename T>
struct LaneAllocator : ArrayAllocator<T> {
  LaneAllocator() = default;
  template <typename U>
  explicit LaneAllocator(const LaneAllocator<U>& /*other*/) {}

  /// Leaves memory as it is: what is never used is then never fetched.
  template <typename U>
  void construct(U* place) {
    ::new (static_cast<void*>(place)) U;
  }
  template <typename U, typename... Arguments>
  void construct(U* place, Arguments&&... arguments) {
    ::new (static_cast<void*>(place)) U(std::forward<Arguments>(arguments)...);
  }
};

template <typename T>
using LaneVector = std::vector<T, LaneAllocator<T>>;

/// The arrays of engine A's passes over one program; used again from pass to pass.
template <typename V>
class Workspace {
 public:
  /// Passes that keep nothing but their time; or when each rank ended; or when every operation did, too.
  enum class Keeps : std::uint8_t { kTime, kEnds, kAll };

  Workspace(const Program& program, Keeps keeps) : program_(&program), keeps_(keeps) {}

  /// One pass over at most kLanes<V> networks, all with the hosts that `classes` are made for. Throws
  /// `deadlock`.
  void run(const CostClasses& classes, std::span<const Network* const> networks);

  /// When the last rank ended.
  [[nodiscard]] const V& time() const { return time_; }
  /// When a rank ended; where it is kept.
  [[nodiscard]] const V& clock(std::uint32_t rank) const { return ends_[rank]; }
  [[nodiscard]] const V& inversions() const { return inversions_; }

  // of a detailed pass
  [[nodiscard]] const V& end(std::uint32_t op) const { return end_[op]; }
  /// When a message's request is at the receiver; of an eager one, when its first byte is.
  [[nodiscard]] const V& sent(std::uint32_t message) const { return sent_[message]; }
  [[nodiscard]] const V& posted(std::uint32_t message) const { return posted_[message]; }
  [[nodiscard]] const Cost<V>& cost(std::uint32_t each) const { return costs_[each]; }

 private:
  void clear(bool rendezvous);
  [[nodiscard]] Pass<V> pass(const CostClasses& classes, std::span<const Network* const> networks,
                             bool rendezvous);
  void refuse_blocked() const;

  V time_{};
  V inversions_{};
  const Program* program_;
  std::vector<Cost<V>> costs_;
  LaneVector<RankState<V>> state_;
  std::vector<std::uint32_t> position_;
  std::vector<std::uint32_t> ready_;
  LaneVector<V> sent_;
  LaneVector<V> posted_;
  LaneVector<Sending<V>> sending_;
  LaneVector<V> end_;
  LaneVector<V> ends_;
  Keeps keeps_;
  bool forgotten_ = false;  ///< the last pass has left `sent_` ready for the next one
};

}  // namespace wulf::replay
