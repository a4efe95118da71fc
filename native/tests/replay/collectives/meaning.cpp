#include "tests/replay/collectives/meaning.hpp"

#include <algorithm>

namespace wulf::replay::meaning {
namespace {

std::vector<std::size_t> places(const Part& part) {
  std::vector<std::size_t> list;
  for (std::uint64_t at = part.begin; at < part.end; ++at) {
    if (part.stride == 0 || (at - part.begin) % part.stride < part.run) {
      list.push_back(at);
    }
  }
  if (list.size() != part.bytes()) {
    throw std::logic_error("a part says that it has " + std::to_string(part.bytes()) + " B, and has " +
                           std::to_string(list.size()));
  }
  return list;
}

}  // namespace

Interpreter::Interpreter(std::vector<std::vector<Step>> scripts, std::vector<Rank> ranks, bool rendezvous)
    : scripts_(std::move(scripts)),
      ranks_(std::move(ranks)),
      rendezvous_(rendezvous),
      next_(ranks_.size(), 0),
      open_(ranks_.size()) {}

void Interpreter::run() {
  bool moved = true;
  while (moved) {
    moved = false;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      while (advance(static_cast<int>(r))) {
        moved = true;
      }
    }
  }
  for (std::size_t r = 0; r < ranks_.size(); ++r) {
    if (next_[r] < scripts_[r].size()) {
      throw std::logic_error("rank " + std::to_string(r) + " stands at step " + std::to_string(next_[r]));
    }
    if (!open_[r].empty()) {
      throw std::logic_error("rank " + std::to_string(r) + " never waits for a request");
    }
  }
  for (const auto& [ends, channel] : channels_) {
    if (channel.sent.size() != channel.posted) {
      throw std::logic_error("messages and receives differ in number from " + std::to_string(ends.first) +
                             " to " + std::to_string(ends.second));
    }
  }
}

bool Interpreter::advance(int r) {
  const auto index = static_cast<std::size_t>(r);
  if (next_[index] >= scripts_[index].size()) {
    return false;
  }
  const Step& step = scripts_[index][next_[index]];
  if (step.kind == Step::Kind::kWait) {
    const auto found = open_[index].find(step.token);
    if (found == open_[index].end()) {
      throw std::logic_error("rank " + std::to_string(r) + " waits for what it has not posted");
    }
    if (!finish(r, found->second)) {
      return false;
    }
    open_[index].erase(found);
  } else if (step.kind == Step::Kind::kReduce || step.kind == Step::Kind::kCopy) {
    write(r, step.to, read(r, step.part), step.kind == Step::Kind::kReduce);
  } else {
    post(r, step);
  }
  ++next_[index];
  return true;
}

void Interpreter::post(int r, const Step& step) {
  const bool sends = step.kind == Step::Kind::kSend;
  if (step.peer == r || step.peer < 0 || step.peer >= static_cast<int>(ranks_.size())) {
    throw std::logic_error("rank " + std::to_string(r) + " has the peer " + std::to_string(step.peer));
  }
  Channel& channel = channels_[sends ? std::pair{r, step.peer} : std::pair{step.peer, r}];
  const std::size_t number = sends ? channel.sent.size() : channel.posted++;
  if (sends) {
    channel.sent.push_back({read(r, step.part), ranks_[static_cast<std::size_t>(r)].after});
  }
  open_[static_cast<std::size_t>(r)][step.token] = {&channel, number, step.part, sends};
}

/// Whether it was done.
bool Interpreter::finish(int r, const Posted& posted) {
  if (posted.sends) {
    return !rendezvous_ || posted.number < posted.channel->posted;
  }
  if (posted.number >= posted.channel->sent.size()) {
    return false;
  }
  const Message& message = posted.channel->sent[posted.number];
  write(r, posted.part, message.bytes, false);
  ranks_[static_cast<std::size_t>(r)].after.insert(message.after.begin(), message.after.end());
  return true;
}

Bytes Interpreter::read(int r, const Part& part) {
  Bytes& room = ranks_[static_cast<std::size_t>(r)].rooms[part.room];
  Bytes bytes;
  for (const std::size_t at : places(part)) {
    bytes.push_back(at < room.size() ? room[at] : Value{});
  }
  return bytes;
}

void Interpreter::write(int r, const Part& part, const Bytes& bytes, bool adds) {
  const std::vector<std::size_t> list = places(part);
  if (list.size() != bytes.size()) {
    throw std::logic_error("rank " + std::to_string(r) + " has room for " + std::to_string(list.size()) +
                           " B and gets " + std::to_string(bytes.size()));
  }
  Bytes& room = ranks_[static_cast<std::size_t>(r)].rooms[part.room];
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] >= room.size()) {
      room.resize(list[i] + 1);
    }
    Value& value = room[list[i]];
    Value added = adds ? value : Value{};
    added.insert(added.end(), bytes[i].begin(), bytes[i].end());
    std::sort(added.begin(), added.end());
    value = std::move(added);
  }
}

}  // namespace wulf::replay::meaning
