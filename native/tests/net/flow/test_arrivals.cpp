#include <cstdint>
#include <vector>

#include "net/flow/arrivals.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

std::vector<Arrivals::Kind> kinds(const std::vector<std::uint64_t>& numbers) {
  Arrivals arrivals;
  std::vector<Arrivals::Kind> list;
  list.reserve(numbers.size());
  for (const std::uint64_t number : numbers) {
    list.push_back(arrivals.take(number));
  }
  return list;
}

constexpr auto kInOrder = Arrivals::Kind::kInOrder;

constexpr auto kReordered = Arrivals::Kind::kReordered;

constexpr auto kDuplicate = Arrivals::Kind::kDuplicate;

TEST_CASE("datagrams are in order, reordered or duplicates, whatever is missing") {
  CHECK(kinds({1, 2, 5, 6}) == std::vector{kInOrder, kInOrder, kInOrder, kInOrder});
  CHECK(kinds({1, 3, 2, 2, 3}) == std::vector{kInOrder, kInOrder, kReordered, kDuplicate, kDuplicate});
  CHECK(kinds({7, 7, 1}) == std::vector{kInOrder, kDuplicate, kReordered});
}

TEST_CASE("a number that comes round again in the window is not taken for the one before it") {
  constexpr std::uint64_t kWindow = Arrivals::kWindow;
  CHECK(kinds({1, kWindow + 1, kWindow}) == std::vector{kInOrder, kInOrder, kReordered});
  CHECK(kinds({1, 2, kWindow + 3, kWindow + 2}) == std::vector{kInOrder, kInOrder, kInOrder, kReordered});
  CHECK(kinds({5, 10 * kWindow, 5}) == std::vector{kInOrder, kInOrder, kReordered});  // too old to be known
  CHECK(kinds({10 * kWindow, (10 * kWindow) - 1, (10 * kWindow) - 1}) ==
        std::vector{kInOrder, kReordered, kDuplicate});
}

}  // namespace
