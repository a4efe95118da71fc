#include "replay/program/builder.hpp"

#include <algorithm>
#include <numeric>
#include <string>

#include "core/json/error.hpp"
#include "replay/program/fixed_point.hpp"
#include "replay/program/matching.hpp"

namespace wulf::replay {
namespace {

/// `values` in a new order: `order[i]` says whose place i is.
template <typename T>
void reorder(Array<T>& values, const Array<std::uint32_t>& order) {
  if (values.empty()) {
    return;
  }
  Array<T> moved(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    moved[i] = values[order[i]];
  }
  values = std::move(moved);
}

std::string where(std::uint32_t rank, std::uint32_t op) {
  return "rank " + std::to_string(rank) + ", operation " + std::to_string(op);
}

Error wrong_slot(const std::string& place, std::uint32_t slot, bool posts) {
  return bad_parameter("slot", place + (posts ? " posts to slot " : " waits for slot ") +
                                   std::to_string(slot) + ", which is " + (posts ? "taken" : "not taken") +
                                   ": what made this program miscounts its requests");
}

}  // namespace

Error too_many_operations() {
  return {"limit", "a program has room for 4,294,967,294 operations; this one has more"};
}

Picoseconds scaled(std::int64_t compute, Picoseconds duration) {
  __extension__ using Wide = __int128;
  const Wide wide = (static_cast<Wide>(compute) * static_cast<Wide>(duration)) >> kFractionBits;
  return static_cast<Picoseconds>(std::min<Wide>(wide, INT64_MAX));
}

ProgramBuilder::ProgramBuilder(std::uint32_t ranks, std::int64_t compute) : ranks_(ranks), compute_(compute) {
  if (ranks == 0 || ranks == kAnyPeer) {
    throw bad_parameter("ranks", "a program of " + std::to_string(ranks) + " ranks can't be: give 1 or more");
  }
}

void ProgramBuilder::expect(std::size_t ops, std::size_t posts) {
  kind_.reserve(ops);
  arg_.reserve(ops);
  mark_.reserve(ops);
  peer_.reserve(posts);
  tag_.reserve(posts);
  size_.reserve(posts);
  slot_.reserve(posts);
}

void ProgramBuilder::check_rank(std::uint32_t rank, const char* what) const {
  if (rank >= ranks_) {
    throw bad_parameter("rank", std::string(what) + " " + std::to_string(rank) +
                                    " is named, but the program has " + std::to_string(ranks_) + " ranks");
  }
}

void ProgramBuilder::add(std::uint32_t rank, OpKind kind, std::uint32_t arg, std::uint32_t mark) {
  if (stretches_.empty() || stretches_.back().rank != rank) {
    check_rank(rank, "rank");
    stretches_.push_back({rank, static_cast<std::uint32_t>(kind_.size())});
  }
  if (kind_.size() >= kNone - 1) {
    throw too_many_operations();
  }
  if (mark != 0 && mark_.empty()) {
    mark_.assign(kind_.size(), 0);
  }
  kind_.push_back(kind);
  arg_.push_back(arg);
  if (mark != 0 || !mark_.empty()) {
    mark_.push_back(mark);
  }
}

void ProgramBuilder::add_calc(std::uint32_t rank, Picoseconds duration, std::uint32_t mark) {
  add(rank, OpKind::kCalc, static_cast<std::uint32_t>(durations_.size()), mark);
  if (rank >= busy_.size()) {
    busy_.resize(rank + std::size_t{1});
  }
  const Picoseconds longer = scaled(compute_, duration);
  if (longer > kMostCompute - busy_[rank]) {
    throw Error("limit", "rank " + std::to_string(rank) + " computes for more than 53 days in all");
  }
  busy_[rank] += longer;
  durations_.push_back(longer);
}

std::uint32_t ProgramBuilder::size_of(std::uint64_t bytes) {
  if (bytes != last_bytes_ || last_size_ == kNone) {
    const auto [found, added] = size_index_.try_emplace(bytes, static_cast<std::uint32_t>(sizes_.size()));
    if (added) {
      sizes_.push_back(bytes);
    }
    last_bytes_ = bytes;
    last_size_ = found->second;
  }
  return last_size_;
}

void ProgramBuilder::post(std::uint32_t rank, OpKind kind, std::uint32_t peer, std::uint64_t tag,
                          std::uint32_t size, std::uint32_t slot, std::uint32_t mark) {
  add(rank, kind, static_cast<std::uint32_t>(peer_.size()), mark);
  peer_.push_back(peer);
  tag_.push_back(tag);
  size_.push_back(size);
  slot_.push_back(slot);
}

void ProgramBuilder::add_send(std::uint32_t rank, std::uint32_t peer, std::uint64_t bytes, std::uint64_t tag,
                              std::uint32_t slot, std::uint32_t mark) {
  check_rank(peer, "peer");
  ++sends_;
  post(rank, OpKind::kSend, peer, tag, size_of(bytes), slot, mark);
}

void ProgramBuilder::add_recv(std::uint32_t rank, std::uint32_t peer, std::uint64_t /*bytes*/,
                              std::uint64_t tag, std::uint32_t slot, std::uint32_t mark) {
  if (peer != kAnyPeer) {
    check_rank(peer, "peer");
  }
  wildcards_ |= peer == kAnyPeer || tag == kAnyTag;
  post(rank, OpKind::kRecv, peer, tag, kNone, slot, mark);
}

void ProgramBuilder::add_wait(std::uint32_t rank, std::uint32_t slot, std::uint32_t mark) {
  add(rank, OpKind::kWaitSend, slot, mark);  // whether a send's or a receive's is known with the slot
}

/// Brings the ranks into their order, where they were not added in it.
void ProgramBuilder::gather() {
  const auto by_rank = [](const Stretch& a, const Stretch& b) { return a.rank < b.rank; };
  if (std::is_sorted(stretches_.begin(), stretches_.end(), by_rank)) {
    return;
  }
  std::vector<std::uint32_t> sequence(stretches_.size());
  std::iota(sequence.begin(), sequence.end(), 0);
  std::sort(sequence.begin(), sequence.end(), [&](std::uint32_t a, std::uint32_t b) {
    return stretches_[a].rank != stretches_[b].rank ? stretches_[a].rank < stretches_[b].rank : a < b;
  });
  Array<std::uint32_t> order;
  order.reserve(kind_.size());
  std::vector<Stretch> sorted;
  for (const std::uint32_t each : sequence) {
    const auto end =
        each + 1 < stretches_.size() ? stretches_[each + 1].begin : static_cast<std::uint32_t>(kind_.size());
    sorted.push_back({stretches_[each].rank, static_cast<std::uint32_t>(order.size())});
    for (std::uint32_t op = stretches_[each].begin; op < end; ++op) {
      order.push_back(op);
    }
  }
  reorder(kind_, order);
  reorder(arg_, order);
  reorder(mark_, order);
  stretches_ = std::move(sorted);
}

void ProgramBuilder::number_ranks() {
  first_.assign(ranks_ + std::size_t{1}, static_cast<std::uint32_t>(kind_.size()));
  std::uint32_t rank = 0;
  for (const Stretch& each : stretches_) {
    for (; rank <= each.rank; ++rank) {
      first_[rank] = each.begin;
    }
  }
}

void ProgramBuilder::resolve_slots() {
  std::vector<std::uint32_t> open;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    resolve_slots(rank, open);
    std::fill(open.begin(), open.end(), kNone);
  }
}

/// Puts the post in the place of each wait's slot. `open`: the post of each slot that is taken.
void ProgramBuilder::resolve_slots(std::uint32_t rank, std::vector<std::uint32_t>& open) {
  for (std::uint32_t op = first_[rank]; op < first_[rank + 1]; ++op) {
    if (kind_[op] == OpKind::kCalc) {
      continue;
    }
    const bool posts = kind_[op] != OpKind::kWaitSend;
    const std::uint32_t slot = posts ? slot_[arg_[op]] : arg_[op];
    if (slot >= open.size()) {
      open.resize(slot + std::size_t{1}, kNone);
    }
    if (posts == (open[slot] != kNone)) {
      throw wrong_slot(where(rank, op - first_[rank]), slot, posts);
    }
    if (!posts) {
      // size_ is kNone of receives alone
      kind_[op] = size_[open[slot]] == kNone ? OpKind::kWaitRecv : OpKind::kWaitSend;
      arg_[op] = open[slot];
    }
    open[slot] = posts ? arg_[op] : kNone;
  }
}

Program ProgramBuilder::finish() {
  gather();
  number_ranks();
  resolve_slots();
  stretches_ = {};
  busy_ = {};
  slot_ = {};
  size_index_ = {};
  return Matching(*this).program();
}

}  // namespace wulf::replay
