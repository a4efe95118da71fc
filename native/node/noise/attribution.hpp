#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "node/noise/event.hpp"

namespace wulf::node {

/// Culprits, each with a number: that of one and the same never changes.
class Culprits {
 public:
  Culprits();
  [[nodiscard]] std::size_t number(const Culprit& culprit);
  [[nodiscard]] const Culprit& at(std::size_t number) const { return list_.at(number); }
  [[nodiscard]] Culprit& at(std::size_t number) { return list_.at(number); }
  [[nodiscard]] std::size_t size() const noexcept { return list_.size(); }

  // those that no event names
  static constexpr std::size_t kEntry = 0;
  static constexpr std::size_t kUnexplained = 1;
  static constexpr std::size_t kLost = 2;

 private:
  std::vector<Culprit> list_;
  std::map<Culprit, std::size_t> numbers_;
};

/// A stretch of a CPU's time, and who had it.
struct Piece {
  Nanoseconds at = 0;
  Nanoseconds length = 0;
  std::size_t who = 0;
  bool begins = false;    ///< false where it goes on after something took the CPU from it
  std::int64_t task = 0;  ///< who had the CPU, whatever ran within it; 0: nobody, or it is not known

  friend bool operator==(const Piece&, const Piece&) = default;
};

/// A time without us: from one look at the clock to the next.
struct Absence {
  Nanoseconds at = 0;
  Nanoseconds length = 0;
};

/// Follows one CPU's events, and tells for every stretch of time who had the CPU: always the innermost. A
/// softirq within an interrupt within a task gets what it took itself, and the task what is left. What a task
/// was interrupted in goes on where it comes back, so that threads that run softirqs and can be preempted are
/// told right.
class Attribution {
 public:
  explicit Attribution(Culprits& culprits) : culprits_(culprits) {}

  /// The task `pid` is not a culprit but who is watching; by default the first whose event is seen.
  void watcher(std::int64_t pid) { watcher_ = pid; }

  /// Forgets what was running. It is assumed that the watcher is.
  void restart();

  /// The stretches that somebody else had, in order, without overlap. What lies between them was the
  /// watcher's own, or no tracepoint says whose. Events that go back in time count as of the last one's.
  [[nodiscard]] std::vector<Piece> follow(std::span<const Event> events);

  /// Records that were lost so far.
  [[nodiscard]] std::uint64_t lost() const noexcept { return lost_; }

  /// Culprits that have been found to be kernel threads get that source: to be asked once all events were
  /// followed.
  void tell_kernel_threads();

 private:
  struct Frame {
    Source source;
    std::uint64_t id;
    std::size_t who;
  };
  static constexpr std::size_t kNobody = static_cast<std::size_t>(-1);
  static constexpr std::int64_t kNotKnown = -1;

  void emit(Nanoseconds until, std::size_t who, std::vector<Piece>& pieces);
  [[nodiscard]] std::size_t owner();
  void settle(const Event& event);
  void enter(const Event& event);
  void leave(const Event& event);
  void change(const Event& event);

  Culprits& culprits_;
  std::int64_t watcher_ = kNotKnown;
  std::int64_t current_ = kNotKnown;
  Nanoseconds last_ = 0;
  bool fresh_ = false;
  std::uint64_t lost_ = 0;
  std::map<std::int64_t, std::vector<Frame>> frames_;  ///< of each task, what it is in the midst of
  std::map<std::int64_t, std::string> names_;
  std::map<std::pair<std::int64_t, std::string>, bool> is_kernel_;
};

/// What an absence consists of. Time that no piece covers is entry where it is at most `edge` long and
/// something else was there in that absence; all other is unexplained. `pieces` are as `follow` gives them.
[[nodiscard]] std::vector<Piece> split(const Absence& absence, std::span<const Piece> pieces,
                                       Nanoseconds edge);

}  // namespace wulf::node
