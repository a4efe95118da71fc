#include <cstdint>
#include <vector>

#include "node/memory/random_access.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;

TEST_CASE("HPCC's sequence can be entered anywhere") {
  std::uint64_t x = 1;
  for (std::uint64_t n = 0; n < 1000; ++n) {
    REQUIRE(update_at(n) == x);
    x = next_update(x);
  }
  CHECK(next_update(1ULL << 63U) == 7);
}

TEST_CASE("updates made twice leave every word its number") {
  std::vector<std::uint64_t> table(1024);
  for (std::size_t i = 0; i < table.size(); ++i) {
    table[i] = i;
  }
  Updates updates(table, 3);
  updates.run(5);
  updates.run(6);
  CHECK(wrong_words(table) > 500);
  updates.repeat(11);
  CHECK(wrong_words(table) == 0);
}

}  // namespace
