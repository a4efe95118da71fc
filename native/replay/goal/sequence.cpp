#include "replay/goal/sequence.hpp"

#include <algorithm>

namespace wulf::replay {

namespace {

/// Whether an operation begins once others of its group have begun, which come before it, and waits for the
/// end of none of them.
bool begins_with(std::span<const Dependencies::Link> needs, std::uint32_t op, std::uint32_t group) {
  const auto earlier = [&](const Dependencies::Link& on) { return on.op < (on.begin ? op : group); };
  const auto of_group = [&](const Dependencies::Link& on) { return on.op >= group; };
  return std::all_of(needs.begin(), needs.end(), earlier) &&
         std::any_of(needs.begin(), needs.end(), of_group);
}

}  // namespace

bool find_groups(const GoalRank& rank, const Dependencies& dependencies, std::vector<std::uint32_t>& begins) {
  std::vector<std::uint32_t> seen(rank.ops.size(), kNone);  // by operation: by which it was counted last
  std::uint32_t before = 0;                                 // the group before this one begins here,
  std::uint32_t group = 0;                                  // and this one here
  begins.assign(1, 0);
  const auto needs_all = [&](std::uint32_t op, std::uint32_t begin, std::uint32_t end) {
    std::uint32_t found = 0;
    for (const auto& [on, at_begin] : dependencies.needs(op)) {
      if (at_begin || on >= end) {
        return false;
      }
      found += on >= begin && seen[on] != op ? 1 : 0;
      seen[on] = op;
    }
    return found == end - begin;
  };
  for (std::uint32_t op = 0; op < rank.ops.size(); ++op) {
    if (rank.ops[op].cpu != 0) {
      return false;
    }
    if (needs_all(op, before, group) || begins_with(dependencies.needs(op), op, group)) {
      continue;
    }
    std::fill(seen.begin() + before, seen.begin() + op, kNone);
    if (!needs_all(op, group, op)) {
      return false;
    }
    before = group;
    group = op;
    begins.push_back(op);
  }
  return true;
}

void GoalSequence::begin(const GoalRank& rank) {
  rank_ = &rank;
  emitter_ = std::make_unique<Emitter>(builder_, rank.rank);
  first_ = builder_.ops();
  base_ = posts_.size();
  posts_.resize(base_ + rank.ops.size(), kNone);
  state_.assign(rank.ops.size(), {});
}

void GoalSequence::add(const GoalRank& rank, const std::vector<std::uint32_t>& begins) {
  begin(rank);
  const auto ops = static_cast<std::uint32_t>(rank.ops.size());
  for (std::size_t group = 0; group < begins.size(); ++group) {
    const std::uint32_t end = group + 1 < begins.size() ? begins[group + 1] : ops;
    for (std::uint32_t i = begins[group]; i < end; ++i) {
      post(i);
    }
    for (std::uint32_t i = begins[group]; i < end; ++i) {
      if (state_[i].open) {
        emitter_->set_mark(rank.ops[begins[group]].mark);  // as of one call: receives are taken as they come
        emitter_->wait(state_[i].slot);
      }
    }
  }
  emitter_->finish();
}

std::uint32_t GoalSequence::add(const GoalRank& rank, const Dependencies& dependencies) {
  begin(rank);
  const auto ops = static_cast<std::uint32_t>(rank.ops.size());
  dependencies_ = &dependencies;
  for (std::uint32_t i = 0; i < ops; ++i) {
    state_[i].missing = static_cast<std::uint32_t>(dependencies.needs(i).size());
  }
  for (std::uint32_t i = 0; i < ops; ++i) {
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
  for (std::uint32_t i = 0; i < ops; ++i) {
    if (!state_[i].done) {
      return i;
    }
    wait(i);
  }
  emitter_->finish();
  return kNone;
}

/// Takes an operation whose dependencies are all in the sequence; at once where none is an open message.
void GoalSequence::offer(std::uint32_t index) {
  if (state_[index].missing > 0 || state_[index].done) {
    return;
  }
  const auto needs = dependencies_->needs(index);
  const bool waits =
      std::any_of(needs.begin(), needs.end(), [&](auto on) { return !on.begin && state_[on.op].open; });
  (waits ? waiting_ : free_).push(index);
}

/// It is in the sequence; a message is open from now on.
void GoalSequence::post(std::uint32_t index) {
  const GoalOp& op = rank_->ops[index];
  emitter_->set_mark(op.mark);
  State& state = state_[index];
  state.done = true;
  if (op.kind == GoalOp::Kind::kCalc) {
    emitter_->compute(static_cast<Picoseconds>(op.amount) * kPerNanosecond);
    return;
  }
  state.open = true;
  state.slot = op.kind == GoalOp::Kind::kSend ? emitter_->send(op.peer, op.amount, op.tag)
                                              : emitter_->receive(op.peer, op.amount, op.tag);
  posts_[base_ + index] = static_cast<std::uint32_t>(builder_.ops() - 1 - first_);
}

void GoalSequence::put(std::uint32_t index) {
  for (const auto& [on, begin] : dependencies_->needs(index)) {
    if (!begin) {
      wait(on);
    }
  }
  post(index);
  for (const auto& each : dependencies_->gives(index)) {
    --state_[each.op].missing;
    offer(each.op);
  }
}

void GoalSequence::wait(std::uint32_t index) {
  State& state = state_[index];
  if (!state.open) {
    return;
  }
  state.open = false;
  emitter_->set_mark(rank_->ops[index].mark);
  emitter_->wait(state.slot);
  for (const auto& each : dependencies_->gives(index)) {
    if (!each.begin) {
      offer(each.op);
    }
  }
}

}  // namespace wulf::replay
