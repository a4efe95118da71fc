#include "trace/calls/requests.hpp"

namespace wulf::trace {

namespace {

constexpr std::int32_t word = 64;
constexpr std::int32_t first_room = 1024;
constexpr unsigned half = 32;

std::int32_t oldest(const HandleMap::Slot& slot) {
  return static_cast<std::int32_t>(slot.value & UINT32_MAX);
}

std::int32_t youngest(const HandleMap::Slot& slot) { return static_cast<std::int32_t>(slot.value >> half); }

std::uint64_t both(std::int32_t first, std::int32_t last) {
  return static_cast<std::uint64_t>(first) | (static_cast<std::uint64_t>(last) << half);
}

}  // namespace

bool Requests::grow() {
  const std::int32_t larger = _room == 0 ? first_room : _room * 2;
  auto* posted =
      static_cast<Posted*>(std::realloc(_posted, static_cast<std::size_t>(larger) * sizeof(Posted)));
  _posted = posted == nullptr ? _posted : posted;
  auto* taken =
      static_cast<std::uint64_t*>(std::realloc(_taken, static_cast<std::size_t>(larger / word) * 8));
  _taken = taken == nullptr ? _taken : taken;
  if (posted == nullptr || taken == nullptr) {
    return false;
  }
  for (std::int32_t i = _room / word; i < larger / word; i++) {
    _taken[i] = 0;
  }
  _room = larger;
  return true;
}

std::int32_t Requests::smallest_free() {
  while (_first < _room / word && _taken[_first] == ~std::uint64_t{0}) {
    _first++;
  }
  if (_first == _room / word && !grow()) {
    return -1;
  }
  const std::int32_t bit = __builtin_ctzll(~_taken[_first]);
  _taken[_first] |= std::uint64_t{1} << static_cast<unsigned>(bit);
  return (_first * word) + bit;
}

std::int32_t Requests::open(std::uint64_t key, const Posted& posted) {
  const std::int32_t id = smallest_free();
  if (id < 0) {
    return -1;
  }
  _posted[id] = posted;
  _posted[id].next = -1;
  HandleMap::Slot* slot = _by_handle.find(key);
  if (slot == nullptr) {
    return _by_handle.insert(key, both(id, id)) == nullptr ? -1 : id;
  }
  _posted[youngest(*slot)].next = id;
  slot->value = both(oldest(*slot), id);
  return id;
}

std::int32_t Requests::look(std::uint64_t key, std::int32_t thread) const {
  const HandleMap::Slot* slot = _by_handle.find(key);
  if (slot == nullptr) {
    return -1;
  }
  for (std::int32_t id = oldest(*slot); id >= 0; id = _posted[id].next) {
    if (_posted[id].thread == thread) {
      return id;
    }
  }
  return oldest(*slot);
}

void Requests::close(std::uint64_t key, std::int32_t id) {
  HandleMap::Slot* slot = _by_handle.find(key);
  if (slot == nullptr) {
    return;
  }
  std::int32_t before = -1;
  for (std::int32_t at = oldest(*slot); at != id && at >= 0; at = _posted[at].next) {
    before = at;
  }
  const std::int32_t after = _posted[id].next;
  const std::int32_t first = before < 0 ? after : oldest(*slot);
  if (before >= 0) {
    _posted[before].next = after;
  }
  if (first < 0) {
    _by_handle.erase(slot);
  } else {
    slot->value = both(first, after < 0 && before >= 0 ? before : youngest(*slot));
  }
  _taken[id / word] &= ~(std::uint64_t{1} << static_cast<unsigned>(id % word));
  _first = id / word < _first ? id / word : _first;
}

}  // namespace wulf::trace
