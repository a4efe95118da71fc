#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>

namespace wulf::trace {

/// A handle of MPI as a number: a pointer with Open MPI, an int with MPICH.
template <typename Handle>
std::uint64_t key_of(Handle handle) {
  // NOLINTNEXTLINE(google-readability-casting,modernize-avoid-c-style-cast) - a pointer or a number
  return (std::uint64_t)handle;
}

/// Handle → a number, by open addressing: constant time, and memory only where it grows.
class HandleMap {
 public:
  struct Slot {
    std::uint64_t key;  ///< 0: free; no MPI has such a handle
    std::uint64_t value;
  };

  /// The entry of a handle; null: there is none.
  [[nodiscard]] Slot* find(std::uint64_t key) const {
    if (_slots == nullptr) {
      return nullptr;
    }
    for (std::size_t at = home(key);; at = (at + 1) & _mask) {
      if (_slots[at].key == key) {
        return &_slots[at];
      }
      if (_slots[at].key == 0) {
        return nullptr;
      }
    }
  }

  /// A new entry for a handle that has none; null: out of memory.
  Slot* insert(std::uint64_t key, std::uint64_t value) {
    if ((_slots == nullptr || (_used + 1) * 2 > _mask + 1) && !grow()) {
      return nullptr;
    }
    _used++;
    return place(key, value);
  }

  /// Remove an entry; those behind it move up, so that there are no holes to step over.
  void erase(Slot* gone) {
    if (_slots == nullptr) {
      return;
    }
    _used--;
    auto hole = static_cast<std::size_t>(gone - _slots);
    for (std::size_t at = (hole + 1) & _mask; _slots[at].key != 0; at = (at + 1) & _mask) {
      if (((at - home(_slots[at].key)) & _mask) >= ((at - hole) & _mask)) {
        _slots[hole] = _slots[at];
        hole = at;
      }
    }
    _slots[hole].key = 0;
  }

 private:
  static constexpr std::size_t first_size = 1024;

  [[nodiscard]] std::size_t home(std::uint64_t key) const {
    // Fibonacci hashing (Knuth, volume 3, 6.4)
    return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15U) >> 32U) & _mask;
  }

  Slot* place(std::uint64_t key, std::uint64_t value) {
    std::size_t at = home(key);
    while (_slots[at].key != 0) {
      at = (at + 1) & _mask;
    }
    _slots[at] = {key, value};
    return &_slots[at];
  }

  bool grow() {
    Slot* before = _slots;
    const std::size_t size = before == nullptr ? 0 : _mask + 1;
    const std::size_t larger = size == 0 ? first_size : size * 2;
    auto* made = static_cast<Slot*>(std::calloc(larger, sizeof(Slot)));
    if (made == nullptr) {
      return false;
    }
    _slots = made;
    _mask = larger - 1;
    for (std::size_t i = 0; i < size; i++) {
      if (before[i].key != 0) {
        place(before[i].key, before[i].value);
      }
    }
    std::free(before);
    return true;
  }

  Slot* _slots = nullptr;
  std::size_t _mask = 0;
  std::size_t _used = 0;
};

}  // namespace wulf::trace
