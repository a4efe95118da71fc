#include "node/memory/random_access.hpp"

namespace wulf::node {
namespace {

/// x·y in the polynomials of the sequence.
std::uint64_t times(std::uint64_t x, std::uint64_t y) noexcept {
  std::uint64_t product = 0;
  for (; y != 0; y >>= 1U) {
    product ^= (y & 1U) != 0 ? x : 0;
    x = next_update(x);
  }
  return product;
}

}  // namespace

std::uint64_t update_at(std::uint64_t n) noexcept {
  std::uint64_t result = 1;
  std::uint64_t power = 2;  // one step is a multiplication by x
  for (; n != 0; n >>= 1U) {
    result = (n & 1U) != 0 ? times(result, power) : result;
    power = times(power, power);
  }
  return result;
}

Updates::Updates(std::span<std::uint64_t> table, std::size_t rank) noexcept : table_(table), rank_(rank) {
  rewind();
}

void Updates::rewind() noexcept {
  constexpr unsigned kStretch = 36;  // steps of a sequence before it meets the next: more than a run makes
  for (std::size_t i = 0; i < kLookAhead; ++i) {
    state_[i] = update_at(((rank_ * kLookAhead) + i) << kStretch);
  }
}

template <typename Change>
void Updates::update(std::uint64_t rounds, Change change) noexcept {
  const std::uint64_t mask = table_.size() - 1;
  for (std::uint64_t round = 0; round < rounds; ++round) {
    for (std::uint64_t& x : state_) {
      x = next_update(x);
      change(std::atomic_ref<std::uint64_t>(table_[x & mask]), x);
    }
  }
}

void Updates::run(std::uint64_t rounds) noexcept {
  update(rounds, [](std::atomic_ref<std::uint64_t> word, std::uint64_t x) {
    word.store(word.load(std::memory_order_relaxed) ^ x, std::memory_order_relaxed);
  });
}

void Updates::repeat(std::uint64_t rounds) noexcept {
  rewind();
  update(rounds, [](std::atomic_ref<std::uint64_t> word, std::uint64_t x) {
    word.fetch_xor(x, std::memory_order_relaxed);
  });
}

std::uint64_t wrong_words(std::span<const std::uint64_t> table) noexcept {
  std::uint64_t wrong = 0;
  for (std::uint64_t i = 0; i < table.size(); ++i) {
    wrong += table[i] != i ? 1 : 0;
  }
  return wrong;
}

}  // namespace wulf::node
