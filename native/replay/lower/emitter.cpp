#include "replay/lower/emitter.hpp"

namespace wulf::replay {

void Emitter::flush() {
  if (pending_ > 0) {
    builder_.add_calc(rank_, pending_, mark_);
    pending_ = 0;
  }
}

std::uint32_t Emitter::take_slot() {
  if (free_.empty()) {
    return slots_++;
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

std::uint32_t Emitter::send(std::uint32_t peer, std::uint64_t bytes, std::uint64_t tag) {
  flush();
  const std::uint32_t slot = take_slot();
  builder_.add_send(rank_, peer, bytes, tag, slot, mark_);
  return slot;
}

std::uint32_t Emitter::receive(std::uint32_t peer, std::uint64_t bytes, std::uint64_t tag) {
  flush();
  const std::uint32_t slot = take_slot();
  builder_.add_recv(rank_, peer, bytes, tag, slot, mark_);
  return slot;
}

void Emitter::wait(std::uint32_t slot) {
  flush();
  builder_.add_wait(rank_, slot, mark_);
  free_.push_back(slot);
}

}  // namespace wulf::replay
