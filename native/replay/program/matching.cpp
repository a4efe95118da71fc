#include "replay/program/matching.hpp"

#include <algorithm>
#include <bit>

#include "core/json/error.hpp"

namespace wulf::replay {
namespace {

constexpr std::size_t kFew = 32;  ///< so many messages are searched faster than hashed

std::uint64_t mixed(std::uint32_t from, std::uint64_t tag) {
  // multipliers of splitmix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)
  std::uint64_t x = (tag * 0x9e3779b97f4a7c15U) + from;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  return x ^ (x >> 27U);
}

}  // namespace

Program Matching::program() {
  number_sends();
  find_live_ranks();
  sort_by_receiver();
  for (std::uint32_t rank = 0; rank < builder_.ranks_; ++rank) {
    if (live_[rank]) {
      make_live(rank);
    } else {
      match_rank(rank);
    }
  }
  refuse_unmatched();
  finish_args();
  program_.first = std::move(builder_.first_);
  program_.kind = std::move(builder_.kind_);
  program_.arg = std::move(builder_.arg_);
  program_.mark = std::move(builder_.mark_);
  program_.durations = std::move(builder_.durations_);
  program_.sizes = std::move(builder_.sizes_);
  return std::move(program_);
}

void Matching::number_sends() {
  Messages& messages = program_.messages;
  const std::size_t sends = builder_.sends_;
  for (auto* field : {&messages.from, &messages.to, &messages.size, &messages.send_op}) {
    field->reserve(sends);
  }
  messages.tag.reserve(sends);
  messages.recv_op.assign(sends, kNone);
  message_of_.assign(builder_.peer_.size(), kNone);
  for (std::uint32_t rank = 0; rank < builder_.ranks_; ++rank) {
    for (std::uint32_t op = builder_.first_[rank]; op < builder_.first_[rank + 1]; ++op) {
      if (builder_.kind_[op] == OpKind::kSend) {
        const std::uint32_t post = builder_.arg_[op];
        message_of_[post] = static_cast<std::uint32_t>(messages.count());
        messages.from.push_back(rank);
        messages.to.push_back(builder_.peer_[post]);
        messages.size.push_back(builder_.size_[post]);
        messages.tag.push_back(builder_.tag_[post]);
        messages.send_op.push_back(op);
      }
    }
  }
}

void Matching::find_live_ranks() {
  live_.assign(builder_.ranks_, false);
  if (!builder_.wildcards_) {
    return;
  }
  for (std::uint32_t rank = 0; rank < builder_.ranks_; ++rank) {
    for (std::uint32_t op = builder_.first_[rank]; op < builder_.first_[rank + 1] && !live_[rank]; ++op) {
      if (builder_.kind_[op] == OpKind::kRecv) {
        const std::uint32_t post = builder_.arg_[op];
        live_[rank] = builder_.peer_[post] == kAnyPeer || builder_.tag_[post] == kAnyTag;
      }
    }
  }
}

void Matching::sort_by_receiver() {
  const Array<std::uint32_t>& to = program_.messages.to;
  begin_.assign(builder_.ranks_ + std::size_t{2}, 0);
  for (const std::uint32_t rank : to) {
    ++begin_[rank + std::size_t{2}];
  }
  for (std::size_t i = 2; i < begin_.size(); ++i) {
    begin_[i] += begin_[i - 1];
  }
  incoming_.resize(to.size());
  for (std::uint32_t message = 0; message < to.size(); ++message) {
    incoming_[begin_[to[message] + std::size_t{1}]++] = message;
  }
}

void Matching::pair(std::uint32_t message, std::uint32_t op) {
  program_.messages.recv_op[message] = op;
  message_of_[builder_.arg_[op]] = message;
  ++matched_;
}

void Matching::match_rank(std::uint32_t rank) {
  const std::span<const std::uint32_t> incoming(incoming_.data() + begin_[rank],
                                                begin_[rank + 1] - begin_[rank]);
  matched_ = 0;
  if (incoming.size() <= kFew) {
    match_few(rank, incoming);
  } else {
    match_many(rank, incoming);
  }
  if (matched_ == incoming.size()) {
    return;
  }
  for (const std::uint32_t message : incoming) {
    if (program_.messages.recv_op[message] == kNone) {
      lonely_.push_back(program_.messages.send_op[message]);
    }
  }
}

void Matching::match_few(std::uint32_t rank, std::span<const std::uint32_t> incoming) {
  keys_.clear();
  for (const std::uint32_t message : incoming) {
    keys_.push_back({program_.messages.tag[message], program_.messages.from[message], message});
  }
  for (std::uint32_t op = builder_.first_[rank]; op < builder_.first_[rank + 1]; ++op) {
    if (builder_.kind_[op] != OpKind::kRecv) {
      continue;
    }
    const std::uint32_t post = builder_.arg_[op];
    const auto found = std::find_if(keys_.begin(), keys_.end(), [&](const Key& key) {
      return key.from == builder_.peer_[post] && key.tag == builder_.tag_[post];
    });
    if (found == keys_.end()) {
      lonely_.push_back(op);
    } else {
      pair(found->message, op);
      found->from = kNone;  // taken
    }
  }
}

Matching::Queue& Matching::queue_of(std::uint32_t from, std::uint64_t tag) {
  std::size_t place = mixed(from, tag) & (table_.size() - 1);
  while (table_[place].used && (table_[place].from != from || table_[place].tag != tag)) {
    place = (place + 1) & (table_.size() - 1);
  }
  if (!table_[place].used) {
    table_[place] = {tag, from, kNone, kNone, true};
  }
  return table_[place];
}

void Matching::match_many(std::uint32_t rank, std::span<const std::uint32_t> incoming) {
  const Messages& messages = program_.messages;
  std::size_t receives = 0;
  for (std::uint32_t op = builder_.first_[rank]; op < builder_.first_[rank + 1]; ++op) {
    receives += builder_.kind_[op] == OpKind::kRecv ? 1 : 0;
  }
  // keys of receives without any message take places, too
  table_.assign(std::bit_ceil(2 * (incoming.size() + receives)), Queue{});
  next_.assign(incoming.size(), kNone);
  for (std::uint32_t i = 0; i < incoming.size(); ++i) {
    Queue& queue = queue_of(messages.from[incoming[i]], messages.tag[incoming[i]]);
    (queue.head == kNone ? queue.head : next_[queue.tail]) = i;
    queue.tail = i;
  }
  for (std::uint32_t op = builder_.first_[rank]; op < builder_.first_[rank + 1]; ++op) {
    if (builder_.kind_[op] != OpKind::kRecv) {
      continue;
    }
    const std::uint32_t post = builder_.arg_[op];
    Queue& queue = queue_of(builder_.peer_[post], builder_.tag_[post]);
    if (queue.head == kNone) {
      lonely_.push_back(op);
    } else {
      pair(incoming[queue.head], op);
      queue.head = next_[queue.head];
    }
  }
}

void Matching::make_live(std::uint32_t rank) {
  for (std::uint32_t op = builder_.first_[rank]; op < builder_.first_[rank + 1]; ++op) {
    if (builder_.kind_[op] == OpKind::kRecv) {
      const std::uint32_t post = builder_.arg_[op];
      builder_.kind_[op] = OpKind::kRecvLive;
      message_of_[post] = static_cast<std::uint32_t>(program_.live.count());
      program_.live.peer.push_back(builder_.peer_[post]);
      program_.live.tag.push_back(builder_.tag_[post]);
    } else if (builder_.kind_[op] == OpKind::kWaitRecv) {
      builder_.kind_[op] = OpKind::kWaitLive;
    }
  }
}

/// Puts messages in the places of posts.
void Matching::finish_args() {
  for (std::size_t op = 0; op < builder_.kind_.size(); ++op) {
    if (builder_.kind_[op] != OpKind::kCalc) {
      builder_.arg_[op] = message_of_[builder_.arg_[op]];
    }
  }
}

std::string Matching::describe_post(std::uint32_t rank, std::uint32_t op) const {
  const std::uint32_t post = builder_.arg_[op];
  const bool sends = builder_.kind_[op] == OpKind::kSend;
  const std::uint32_t mark = builder_.mark_.empty() ? 0 : builder_.mark_[op];
  return "rank " + std::to_string(rank) + ", operation " + std::to_string(op - builder_.first_[rank]) +
         (mark != 0 ? " (record " + std::to_string(mark) + ")" : "") +
         (sends ? ": send to rank " : ": receive from rank ") + std::to_string(builder_.peer_[post]) +
         " with tag " + std::to_string(builder_.tag_[post]);
}

void Matching::refuse_unmatched() {
  constexpr std::size_t kNamed = 10;
  if (lonely_.empty()) {
    return;
  }
  std::sort(lonely_.begin(), lonely_.end());
  std::string text;
  for (std::size_t i = 0; i < std::min(kNamed, lonely_.size()); ++i) {
    const auto after = std::upper_bound(builder_.first_.begin(), builder_.first_.end(), lonely_[i]);
    const auto rank = static_cast<std::uint32_t>(after - builder_.first_.begin() - 1);
    text += (i == 0 ? "" : "; ") + describe_post(rank, lonely_[i]);
  }
  if (lonely_.size() > kNamed) {
    text += "; and " + std::to_string(lonely_.size() - kNamed) + " more";
  }
  throw Error("unmatched", std::to_string(lonely_.size()) +
                               " sends and receives have no partner, so the program can't end: " + text +
                               ". Is the trace of every rank there, and whole?");
}

}  // namespace wulf::replay
