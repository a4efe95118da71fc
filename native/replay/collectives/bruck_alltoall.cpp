#include "replay/collectives/algorithm.hpp"

namespace wulf::replay::bruck_alltoall {
namespace {

/// Blocks of numbers with a certain bit go on together (Bruck and others 1997); all blocks are equal.
void expand(const Call& call, Steps& steps) {
  const std::uint64_t block = call.give.size(0);
  const int p = call.size;
  const auto scratch = [&](int index) {
    return Part{Room::kScratch, block * static_cast<std::uint64_t>(index),
                block * static_cast<std::uint64_t>(index + 1)};
  };
  for (int i = 0; i < p; ++i) {
    steps.copy(call.give.block(Room::kInput, (call.me + i) % p), scratch(i));
  }
  for (std::int64_t bit = 1; bit < p; bit *= 2) {
    const int distance = static_cast<int>(bit);
    const std::uint64_t run = block * static_cast<std::uint64_t>(bit);
    const Part with_bit{Room::kScratch, run, block * static_cast<std::uint64_t>(p), run, 2 * run};
    steps.exchange((call.me + distance) % p, with_bit, (call.me - distance + p) % p, with_bit);
  }
  for (int i = 0; i < p; ++i) {
    steps.copy(scratch(i), call.take.block(Room::kResult, (call.me - i + p) % p));
  }
}

const Registered<Algorithm> registered{
    algorithm("alltoall", "bruck", "log2 rounds of half the data each; of equal blocks", expand)};

}  // namespace
}  // namespace wulf::replay::bruck_alltoall
