#include <algorithm>
#include <set>

#include "mpi/plain/messages/orders.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::mpi;

TEST_CASE("a shuffled order holds all, and is the seed's own") {
  std::vector<int> order = shuffled(100, 1);
  CHECK(order == shuffled(100, 1));
  CHECK(order != shuffled(100, 2));
  std::sort(order.begin(), order.end());
  for (int i = 0; i < 100; ++i) {
    CHECK(order[static_cast<std::size_t>(i)] == i);
  }
  CHECK(shuffled(4, 1) == std::vector<int>{2, 0, 3, 1});
}

TEST_CASE("all orders are equally likely") {
  std::vector<int> first(4);
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    ++first[static_cast<std::size_t>(shuffled(4, seed).front())];
  }
  for (const int count : first) {
    CHECK(std::abs(count - 1000) < 150);  // 5 standard deviations
  }
}

TEST_CASE("neighbours in a ring") {
  const std::vector<int> ring{2, 0, 3, 1};
  CHECK(neighbours(ring, 0).left == 2);
  CHECK(neighbours(ring, 0).right == 3);
  CHECK(neighbours(ring, 2).left == 1);
  CHECK(neighbours(ring, 1).right == 2);
  CHECK(neighbours({0}, 0).left == 0);
}

TEST_CASE("every two meet once, and nobody twice in a round") {
  for (int count = 1; count <= 33; ++count) {
    std::set<std::pair<int, int>> met;
    for (int round = 0; round < rounds_of_pairs(count); ++round) {
      int waiting = 0;
      for (int index = 0; index < count; ++index) {
        const std::optional<int> partner = partner_in(round, index, count);
        if (!partner) {
          ++waiting;
          continue;
        }
        INFO(count << " " << round << " " << index);
        CHECK(*partner != index);
        CHECK(partner_in(round, *partner, count) == index);
        if (index < *partner) {
          CHECK(met.insert({index, *partner}).second);
        }
      }
      CHECK(waiting == count % 2);
    }
    CHECK(met.size() == static_cast<std::size_t>(count) * static_cast<std::size_t>(count - 1) / 2);
  }
}

}  // namespace
