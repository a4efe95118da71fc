#include "replay/engine_b/matching.hpp"

#include <array>

namespace wulf::replay {
namespace {

struct Ways {
  std::array<Envelope, 4> all;
  std::size_t count;
};

/// Every receive that takes it: of a message of MPI's own, the one that names it.
Ways ways_of(const Envelope& envelope) {
  const std::size_t count = envelope.tag >= kFirstOwnTag ? 1 : 4;
  return {{envelope, {envelope.peer, kAnyTag}, {kAnyPeer, envelope.tag}, {kAnyPeer, kAnyTag}}, count};
}

}  // namespace

std::optional<std::uint32_t> LiveMatching::arrive(const Envelope& envelope, std::uint32_t message) {
  const Ways ways = ways_of(envelope);
  std::deque<Posted>* oldest = nullptr;
  for (std::size_t i = 0; i < ways.count; ++i) {
    const auto found = posted_.find(ways.all[i]);
    if (found != posted_.end() && !found->second.empty() &&
        (oldest == nullptr || found->second.front().stamp < oldest->front().stamp)) {
      oldest = &found->second;
    }
  }
  if (oldest != nullptr) {
    const std::uint32_t receive = oldest->front().receive;
    oldest->pop_front();
    return receive;
  }
  for (std::size_t i = 0; i < ways.count; ++i) {
    waiting_[ways.all[i]].push_back(unexpected_.size());
  }
  unexpected_.push_back({message, false});
  return std::nullopt;
}

std::optional<std::uint32_t> LiveMatching::post(const Envelope& wanted, std::uint32_t receive) {
  const auto found = waiting_.find(wanted);
  if (found != waiting_.end()) {
    Places& places = found->second;
    while (!places.empty()) {
      Unexpected& first = unexpected_[places.front()];
      places.pop_front();
      if (!first.taken) {
        first.taken = true;
        return first.message;
      }
    }
  }
  posted_[wanted].push_back({stamps_++, receive});
  return std::nullopt;
}

}  // namespace wulf::replay
