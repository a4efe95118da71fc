#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "core/time/clock.hpp"

namespace wulf::net {

/// The requests that are on the way over datagrams, which may be lost, come twice or out of turn. Each has a
/// number, whose lowest bytes travel with it. Pure: the clock's readings are given.
class Outstanding {
 public:
  /// At most `window` at once; `carried`: how many bytes of a number fit into a message.
  Outstanding(std::size_t window, std::size_t carried)
      : slots_(window),
        mask_(carried >= sizeof(std::uint64_t) ? std::numeric_limits<std::uint64_t>::max()
                                               : (std::uint64_t{1} << (8 * carried)) - 1) {
    for (std::size_t slot = window; slot > 0; --slot) {
      free_.push_back(slot - 1);
    }
  }

  /// Numbers in flight must differ in the bytes that travel, with as many again for those that come late.
  [[nodiscard]] static bool can_tell_apart(std::size_t window, std::size_t carried) noexcept {
    constexpr std::size_t kBits = 8;
    return carried >= sizeof(std::size_t) || 2 * window <= (std::size_t{1} << (kBits * carried));
  }

  [[nodiscard]] bool has_room() const noexcept { return !free_.empty(); }
  [[nodiscard]] std::size_t on_the_way() const noexcept { return slots_.size() - free_.size(); }

  /// The number of the next request; there must be room. The same until it is asked.
  [[nodiscard]] std::uint64_t next() const noexcept {
    const std::size_t window = slots_.size();
    const std::uint64_t least = newest_ + 1;
    return least + ((free_.back() + window - (least % window)) % window);
  }

  /// The next request has been sent.
  void asked(Nanoseconds at) noexcept {
    newest_ = next();
    slots_[free_.back()] = {newest_, at, true};
    free_.pop_back();
  }

  /// An answer with these lowest bytes of a number: when it was asked for. Nothing where it is none of those
  /// on the way: given up before, or answered already.
  std::optional<Nanoseconds> answered(std::uint64_t carried) noexcept {
    const std::uint64_t number = newest_ - ((newest_ - carried) & mask_);
    const std::size_t place = number % slots_.size();
    Slot& slot = slots_[place];
    if (!slot.waits || slot.number != number) {
      return std::nullopt;
    }
    release(place);
    return slot.asked_at;
  }

  /// Gives up those that were asked before `time`: how many.
  std::size_t give_up(Nanoseconds time) noexcept {
    std::size_t lost = 0;
    for (std::size_t place = 0; place < slots_.size(); ++place) {
      if (slots_[place].waits && slots_[place].asked_at < time) {
        release(place);
        ++lost;
      }
    }
    return lost;
  }

 private:
  struct Slot {
    std::uint64_t number = 0;
    Nanoseconds asked_at = 0;
    bool waits = false;
  };

  void release(std::size_t place) noexcept {
    slots_[place].waits = false;
    free_.push_back(place);  // never more than there are slots: no memory is asked for
  }

  std::vector<Slot> slots_;        ///< a request's is its number modulo their count
  std::vector<std::size_t> free_;  ///< places of slots
  std::uint64_t mask_;
  std::uint64_t newest_ = 0;
};

}  // namespace wulf::net
