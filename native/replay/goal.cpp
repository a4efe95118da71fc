#include "replay/goal.hpp"

#include <algorithm>
#include <fstream>
#include <functional>
#include <queue>

#include "core/registry.hpp"
#include "replay/goal_lines.hpp"
#include "replay/lower_emitter.hpp"

namespace wulf::replay {
namespace {

/// Puts one rank's operations into a sequence.
class GoalSequence {
 public:
  GoalSequence(const GoalRank& rank, Emitter& emitter)
      : ops_(rank.ops), emitter_(emitter), state_(rank.ops.size()), dependants_(rank.ops.size()) {
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      for (const auto* list : {&ops_[i].after_end, &ops_[i].after_begin}) {
        for (const std::uint32_t on : *list) {
          dependants_[on].push_back(i);
          ++state_[i].missing;
        }
      }
    }
  }

  /// Whether all could be put in: none where dependencies go round in a circle; then `stuck` is one of it.
  bool run(std::uint32_t& stuck) {
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      offer(i);
    }
    while (!free_.empty() || !waiting_.empty()) {
      Heap& heap = free_.empty() ? waiting_ : free_;
      const std::uint32_t next = heap.top();
      heap.pop();
      if (!state_[next].done) {
        put(next);
      }
    }
    for (std::uint32_t i = 0; i < ops_.size(); ++i) {
      if (!state_[i].done) {
        stuck = i;
        return false;
      }
      wait(i);
    }
    emitter_.finish();
    return true;
  }

 private:
  using Heap = std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>>;
  struct State {
    std::uint32_t missing = 0;  ///< dependencies that are not in the sequence
    std::uint32_t slot = 0;
    bool done = false;
    bool open = false;  ///< a message that nothing has waited for
  };

  /// Takes an operation whose dependencies are all in the sequence; at once where none is an open message.
  void offer(std::uint32_t index) {
    if (state_[index].missing > 0 || state_[index].done) {
      return;
    }
    const auto& list = ops_[index].after_end;
    const bool waits =
        std::any_of(list.begin(), list.end(), [&](std::uint32_t on) { return state_[on].open; });
    (waits ? waiting_ : free_).push(index);
  }

  void put(std::uint32_t index) {
    const GoalOp& op = ops_[index];
    for (const std::uint32_t on : op.after_end) {
      wait(on);
    }
    emitter_.set_mark(op.line);
    State& state = state_[index];
    state.done = true;
    if (op.kind == GoalOp::Kind::kCalc) {
      emitter_.compute(static_cast<Picoseconds>(op.amount) * kPerNanosecond);
    } else {
      state.open = true;
      state.slot = op.kind == GoalOp::Kind::kSend ? emitter_.send(op.peer, op.amount, op.tag)
                                                  : emitter_.receive(op.peer, op.amount, op.tag);
    }
    for (const std::uint32_t each : dependants_[index]) {
      --state_[each].missing;
      offer(each);
    }
  }

  void wait(std::uint32_t index) {
    State& state = state_[index];
    if (!state.open) {
      return;
    }
    state.open = false;
    emitter_.set_mark(ops_[index].line);
    emitter_.wait(state.slot);
    for (const std::uint32_t each : dependants_[index]) {
      offer(each);
    }
  }

  const std::vector<GoalOp>& ops_;
  Emitter& emitter_;
  std::vector<State> state_;
  std::vector<std::vector<std::uint32_t>> dependants_;
  Heap free_;     ///< those that need no wait
  Heap waiting_;  ///< those that do
};

/// Counts work that the text lays on another CPU.
void count_other_cpus(const GoalRank& rank, LeftOut& other) {
  for (const GoalOp& op : rank.ops) {
    if (op.cpu == 0) {
      continue;
    }
    if (other.calls++ == 0) {
      other.why = "a rank has one CPU here: it is done after the rest, not beside it; first in line " +
                  std::to_string(op.line);
    }
    other.seconds += op.kind == GoalOp::Kind::kCalc ? static_cast<double>(op.amount) * 1e-9 : 0;
  }
}

class GoalSource final : public Source {
 public:
  GoalSource() : Source("goal", "a GOAL text, as LogGOPSim's") {}

  [[nodiscard]] Loaded load(const Json& value, const Json&, std::int64_t compute) const override {
    if (!value.is_string()) {
      throw bad_parameter("goal", "goal is " + value.dump() + ", but must be the path of a file");
    }
    const auto path = value.get<std::string>();
    std::ifstream text(path);
    if (!text) {
      throw bad_parameter("goal", path + " can't be read: is it there, and yours to read?");
    }
    return read_goal(text, path, compute);
  }
};

const Registered<Source> registered_goal_source{std::make_unique<GoalSource>()};

}  // namespace

Loaded read_goal(std::istream& text, const std::string& name, std::int64_t compute) {
  GoalLines lines(text, name);
  ProgramBuilder builder(lines.ranks(), compute);
  LeftOut other{"work on CPUs beside the first", 0, 0, ""};
  std::vector<bool> told(lines.ranks());
  double seconds = 0;
  GoalRank rank;
  while (lines.next(rank)) {
    if (told[rank.rank]) {
      throw lines.wrong(rank.ops.empty() ? 0 : rank.ops.front().line,
                        "rank " + std::to_string(rank.rank) + " has a block already");
    }
    told[rank.rank] = true;
    count_other_cpus(rank, other);
    for (const GoalOp& op : rank.ops) {
      seconds += op.kind == GoalOp::Kind::kCalc ? static_cast<double>(op.amount) * 1e-9 : 0;
    }
    Emitter emitter(builder, rank.rank);
    std::uint32_t stuck = 0;
    if (!GoalSequence(rank, emitter).run(stuck)) {
      throw lines.wrong(rank.ops[stuck].line, "what it requires requires it in turn, or such a circle");
    }
  }
  Loaded loaded;
  loaded.program = builder.finish();
  if (other.calls > 0) {
    loaded.share = seconds > 0 ? 1 - (other.seconds / seconds) : 1;
    loaded.left_out.push_back(other);
  }
  return loaded;
}

}  // namespace wulf::replay
