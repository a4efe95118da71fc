#pragma once

#include <cstdint>
#include <unordered_map>

#include "replay/program/operation.hpp"

namespace wulf::replay {

/// Tags of 32 bits for those of a program, which have communicators in them: small ones of MPI_COMM_WORLD
/// stay what they are, all others are numbered as they come. The same on all ranks.
class PlainTags {
 public:
  [[nodiscard]] std::uint32_t of(std::uint64_t tag) {
    if (tag < kNumbered) {
      return static_cast<std::uint32_t>(tag);
    }
    // a program has fewer messages than there are numbers
    return numbers_.try_emplace(tag, static_cast<std::uint32_t>(kNumbered + numbers_.size())).first->second;
  }

 private:
  static constexpr std::uint32_t kNumbered = 1U << 24U;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;
};

/// A rank's computing in nanoseconds: what is no whole one is computed with the next.
class WholeNanoseconds {
 public:
  [[nodiscard]] Picoseconds of(Picoseconds duration) {
    rest_ += duration % kPerNanosecond;
    const Picoseconds carried = rest_ / kPerNanosecond;
    rest_ %= kPerNanosecond;
    return (duration / kPerNanosecond) + carried;
  }

 private:
  Picoseconds rest_ = 0;
};

}  // namespace wulf::replay
