#pragma once

#include <algorithm>
#include <bitset>
#include <cstdint>

namespace wulf::net {

/// Tells from their numbers, which their sender counts up from 1, how datagrams arrive.
class Arrivals {
 public:
  enum class Kind : std::uint8_t {
    kInOrder,    ///< later than all before, whatever is missing between
    kReordered,  ///< after a later one
    kDuplicate,  ///< not for the first time
  };

  /// Datagrams that come later than this many behind the highest are counted as reordered, though they may be
  /// duplicates.
  static constexpr std::uint64_t kWindow = 65536;

  Kind take(std::uint64_t number) noexcept {
    if (number > highest_) {
      const std::uint64_t first_new = std::max(highest_ + 1, number >= kWindow ? number - kWindow + 1 : 0);
      for (std::uint64_t each = first_new; each < number; ++each) {
        seen_.reset(each % kWindow);
      }
      highest_ = number;
      seen_.set(number % kWindow);
      return Kind::kInOrder;
    }
    if (highest_ - number >= kWindow) {
      return Kind::kReordered;
    }
    const bool twice = seen_.test(number % kWindow);
    seen_.set(number % kWindow);
    return twice ? Kind::kDuplicate : Kind::kReordered;
  }

  [[nodiscard]] std::uint64_t highest() const noexcept { return highest_; }

 private:
  std::uint64_t highest_ = 0;
  std::bitset<kWindow> seen_;
};

}  // namespace wulf::net
