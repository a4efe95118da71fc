#pragma once

#include <cstdint>
#include <functional>

#include "replay/engine_a/costs.hpp"
#include "replay/engine_a/workspace.hpp"

namespace wulf::replay {

enum class StepKind : std::uint8_t { kCompute, kLatency, kBytes, kOverhead, kWaiting };

/// A stretch of time on the critical path.
template <typename Time>
struct Step {
  StepKind kind;
  std::uint32_t rank;     ///< who computes; who waits for the message
  std::uint32_t op;       ///< of all ranks' operations, the one that takes the time
  std::uint32_t message;  ///< kNone: no message's
  Time begin;
  Time end;
};

/// Walks the critical path of a detailed pass backwards, from the last end to the start: what each moment
/// waited for, until nothing did. Steps follow each other without a gap, so that their sum is the run's time;
/// those that take no time at all stand among them, too.
///
/// Where two things were ready at the same moment, the rank's own comes first.
template <typename Time>
class CriticalPath {
 public:
  CriticalPath(const Program& program, const CostClasses& classes, const Workspace<Time>& space)
      : program_(program), classes_(classes), space_(space) {}

  /// All steps, the last first.
  template <typename Visit>
  void walk(Visit visit) {
    visit_ = [&visit](const Step<Time>& step) { visit(step); };
    start();
    while (next_ > program_.first[rank_]) {
      back(--next_);
    }
  }

 private:
  void start();
  void back(std::uint32_t op);
  void back_over_wait_sent(std::uint32_t op);
  void back_over_wait_received(std::uint32_t op);
  void back_over_rendezvous(std::uint32_t message);
  std::uint32_t back_over_data(std::uint32_t message, std::uint32_t op);
  std::uint32_t back_over_receiver(std::uint32_t message, std::uint32_t op);
  void back_over_sender(std::uint32_t message);
  [[nodiscard]] std::uint32_t served_before(std::uint32_t& op) const;
  [[nodiscard]] Time agreed(std::uint32_t message) const;
  [[nodiscard]] Time first_byte(std::uint32_t message) const;
  [[nodiscard]] Time before(std::uint32_t op) const;
  [[nodiscard]] const Cost<Time>& cost(std::uint32_t message) const;
  void emit(StepKind kind, std::uint32_t message, Time takes);
  void go_to(std::uint32_t rank, std::uint32_t op);

  const Program& program_;
  const CostClasses& classes_;
  const Workspace<Time>& space_;
  std::function<void(const Step<Time>&)> visit_;
  std::uint32_t rank_ = 0;
  std::uint32_t next_ = 0;  ///< the path is at the moment before this operation of rank_
  std::uint32_t op_ = 0;    ///< whose time the steps are
  Time at_ = 0;
};

/// The parts of a detailed pass on one network.
[[nodiscard]] Parts parts_of(const Program& program, const CostClasses& classes,
                             const Workspace<Lanes1>& space);

}  // namespace wulf::replay
