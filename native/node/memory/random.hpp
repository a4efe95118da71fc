#pragma once

#include <cstdint>
#include <random>

namespace wulf::node {

/// SplitMix64 (Steele, Lea, Flood 2014): a few cycles a number, which shuffling millions of lines asks for.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  /// One that no other replicate has.
  Random() : state_((std::uint64_t{std::random_device{}()} << 32U) | std::random_device{}()) {}

  std::uint64_t operator()() noexcept {
    state_ += 0x9E3779B97F4A7C15;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
    return z ^ (z >> 31U);
  }

  /// Below `limit`, which is at most 2³²; its bias is below limit/2³² (Lemire 2019, without the rejection).
  std::uint64_t below(std::uint64_t limit) noexcept { return (((*this)() >> 32U) * limit) >> 32U; }

 private:
  std::uint64_t state_;
};

}  // namespace wulf::node
