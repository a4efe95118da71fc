#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

#include "replay/goal/dependencies.hpp"
#include "replay/lower/emitter.hpp"

namespace wulf::replay {

/// Where a rank does one thing after the other by itself: its operations come in groups of the file's order,
/// each operation of one depending on the end of all of the group before, or on the begin of one before it in
/// its own. `begins` is where they begin. All else is a
/// graph, of which a sequence is only one order; then false.
[[nodiscard]] bool find_groups(const GoalRank& rank, const Dependencies& dependencies,
                               std::vector<std::uint32_t>& begins);

/// Puts a rank's operations into a sequence: what depends on nothing still open comes first, in the order of
/// the file; what depends on a message comes after a wait for it.
class GoalSequence {
 public:
  explicit GoalSequence(ProgramBuilder& builder) : builder_(builder) {}

  /// A rank whose operations come in such groups.
  void add(const GoalRank& rank, const std::vector<std::uint32_t>& begins);
  /// Any other. kNone, or where dependencies go round in a circle one of its operations.
  [[nodiscard]] std::uint32_t add(const GoalRank& rank, const Dependencies& dependencies);
  /// By operation of all ranks that were added: the program's that posts it, counted from its rank's first;
  /// kNone of computing.
  [[nodiscard]] const Array<std::uint32_t>& posts() const { return posts_; }

 private:
  using Heap = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
  struct State {
    std::uint32_t missing = 0;  ///< dependencies that are not in the sequence
    std::uint32_t slot = 0;
    bool done = false;
    bool open = false;  ///< a message that nothing has waited for
  };

  void begin(const GoalRank& rank);
  void post(std::uint32_t index);
  void offer(std::uint32_t index);
  void put(std::uint32_t index);
  void wait(std::uint32_t index);

  ProgramBuilder& builder_;
  Array<std::uint32_t> posts_;

  // of the rank that is added
  const GoalRank* rank_ = nullptr;
  const Dependencies* dependencies_ = nullptr;
  std::unique_ptr<Emitter> emitter_;
  std::size_t first_ = 0;  ///< of its operations in the builder
  std::size_t base_ = 0;   ///< of its operations in `posts_`
  std::vector<State> state_;
  Heap free_;     ///< those that need no wait
  Heap waiting_;  ///< those that do
};

}  // namespace wulf::replay
