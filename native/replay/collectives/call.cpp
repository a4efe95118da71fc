#include "replay/collectives/call.hpp"

#include <algorithm>

namespace wulf::replay {

std::uint64_t Part::bytes() const {
  const std::uint64_t length = end - begin;
  if (stride == 0) {
    return length;
  }
  return (length / stride * run) + std::min(run, length % stride);
}

Blocks Blocks::equal(std::uint64_t bytes, int count) {
  return split(bytes * static_cast<std::uint64_t>(count), count);
}

Blocks Blocks::split(std::uint64_t total, int count) {
  Blocks blocks;
  blocks.count_ = count;
  blocks.total_ = total;
  return blocks;
}

Blocks Blocks::of(const std::vector<std::uint64_t>& sizes) {
  Blocks blocks;
  blocks.count_ = static_cast<int>(sizes.size());
  blocks.ends_.reserve(sizes.size());
  for (const std::uint64_t each : sizes) {
    blocks.total_ += each;
    blocks.ends_.push_back(blocks.total_);
  }
  return blocks;
}

std::uint64_t Blocks::at(int index) const {
  if (index <= 0) {
    return 0;
  }
  if (!ends_.empty()) {
    return ends_[static_cast<std::size_t>(index - 1)];
  }
  // quotient and remainder, since total times index may not fit into 64 bits
  const auto parts = static_cast<std::uint64_t>(count_);
  const auto i = static_cast<std::uint64_t>(index);
  return (total_ / parts * i) + std::min(i, total_ % parts);
}

int power_of_two_below(int size) {
  int power = 1;
  while (power <= size / 2) {
    power *= 2;
  }
  return power;
}

}  // namespace wulf::replay
