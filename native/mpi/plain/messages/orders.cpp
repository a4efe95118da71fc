#include "mpi/plain/messages/orders.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace wulf::mpi {
namespace {

std::uint64_t split_mix(std::uint64_t& state) {
  state += 0x9E3779B97F4A7C15;
  std::uint64_t z = state;
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
  return z ^ (z >> 31U);
}

}  // namespace

std::vector<int> shuffled(int count, std::uint64_t seed) {
  std::vector<int> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t left = order.size(); left > 1; --left) {
    std::swap(order[left - 1], order[split_mix(seed) % left]);  // the bias is below left/2⁶⁴
  }
  return order;
}

Neighbours neighbours(const std::vector<int>& ring, int rank) {
  const auto place = static_cast<std::size_t>(std::find(ring.begin(), ring.end(), rank) - ring.begin());
  return {ring[(place + ring.size() - 1) % ring.size()], ring[(place + 1) % ring.size()]};
}

int rounds_of_pairs(int count) {
  if (count < 2) {
    return 0;
  }
  return count % 2 == 0 ? count - 1 : count;
}

std::optional<int> partner_in(int round, int index, int count) {
  const int circle = rounds_of_pairs(count);
  if (circle == 0) {
    return std::nullopt;
  }
  // i and j on the circle meet where i + j = round, modulo its length; who would meet itself meets the one in
  // the middle, or nobody
  const int middle = count - 1;
  const bool has_middle = count % 2 == 0;
  if (has_middle && index == middle) {
    // 2 i = round: the circle's length is odd, so that there is one such i
    return round % 2 == 0 ? round / 2 : (round + circle) / 2;
  }
  const int other = (((round - index) % circle) + circle) % circle;
  if (other != index) {
    return other;
  }
  return has_middle ? std::optional<int>(middle) : std::nullopt;
}

}  // namespace wulf::mpi
