#include "replay/engine_b/queue.hpp"

#include <algorithm>
#include <functional>
#include <utility>

namespace wulf::replay {
namespace {

/// Keys of which a sort by digits is faster than one by comparisons.
constexpr std::size_t kMany = 512;

constexpr unsigned kDigitBits = 11;
constexpr std::size_t kDigits = std::size_t{1} << kDigitBits;

std::size_t digit_of(std::uint64_t key, unsigned shift) { return (key >> shift) % kDigits; }

/// Stably by one digit, the largest first, from `keys` to `sorted`.
void sort_by_digit(const std::vector<std::uint64_t>& keys, unsigned shift,
                   std::vector<std::uint64_t>& sorted) {
  std::array<std::size_t, kDigits> places{};
  for (const std::uint64_t key : keys) {
    ++places[digit_of(key, shift)];
  }
  std::size_t before = 0;
  for (std::size_t digit = kDigits; digit-- > 0;) {
    before += std::exchange(places[digit], before);
  }
  for (const std::uint64_t key : keys) {
    sorted[places[digit_of(key, shift)]++] = key;
  }
}

/// The largest first. Of many, digit by digit from the lowest: of those in which no two differ nothing is to
/// be done, and keys of one kind differ in few.
void sort_descending(std::vector<std::uint64_t>& keys, std::vector<std::uint64_t>& spare) {
  if (keys.size() < kMany) {
    std::sort(keys.begin(), keys.end(), std::greater<>());
    return;
  }
  std::uint64_t different = 0;
  for (const std::uint64_t key : keys) {
    different |= key ^ keys.front();
  }
  spare.resize(keys.size());
  for (unsigned shift = 0; shift < 64; shift += kDigitBits) {
    if (digit_of(different, shift) != 0) {
      sort_by_digit(keys, shift, spare);
      keys.swap(spare);
    }
  }
}

}  // namespace

void EventQueue::add_late(std::uint64_t key) {
  late_.push_back(key);
  std::push_heap(late_.begin(), late_.end(), std::greater<>());
}

std::uint64_t EventQueue::take_late() {
  std::pop_heap(late_.begin(), late_.end(), std::greater<>());
  const std::uint64_t key = late_.back();
  late_.pop_back();
  return key;
}

/// The lowest bucket's earliest time becomes the last one's; what has it is sorted, the rest moves down.
void EventQueue::refill() {
  const auto lowest = static_cast<unsigned>(std::countr_zero(filled_));
  std::vector<Event>& bucket = buckets_[lowest];
  filled_ &= filled_ - 1;
  last_ = std::min_element(bucket.begin(), bucket.end(), [](const Event& a, const Event& b) {
            return a.time < b.time;
          })->time;
  for (const Event& event : bucket) {
    if (event.time == last_) {
      sorted_.push_back(event.key);
    } else {
      add(event);
    }
  }
  bucket.clear();
  sort_descending(sorted_, spare_);
}

}  // namespace wulf::replay
