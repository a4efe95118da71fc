#include <set>
#include <utility>
#include <vector>

#include "mpi/plain/messages/layout.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::mpi;

TEST_CASE("Warm messages share one slot, cold ones take more than the cache", "[mpi]") {
  const Layout warm(1000, 1, 0);
  CHECK(warm.slots() == 1);
  CHECK(warm.total() == 1024);
  CHECK(warm.after(0) == 0);
  CHECK(Layout(0, 1, 0).total() > 0);
  const Layout cold(1000, 1, 1 << 20);
  CHECK(cold.total() > (1 << 20));
  CHECK(Layout(1 << 20, 1, 1000).slots() == 1);
  CHECK(Layout(8, 100, 0).slots() == 128);
}

TEST_CASE("All slots are used before one is used again, and neighbours are far apart", "[mpi]") {
  const Layout layout(64, 1, (256 * 64) - 1);
  REQUIRE(layout.slots() == 256);
  std::set<std::size_t> seen;
  std::size_t slot = 0;
  for (std::size_t i = 0; i < layout.slots(); ++i) {
    const std::size_t next = layout.after(slot);
    CHECK(next < layout.slots());
    CHECK((next > slot ? next - slot : slot - next) > 64);
    seen.insert(slot = next);
  }
  CHECK(seen.size() == layout.slots());
}

TEST_CASE("The first half of the ranks is paired with the second", "[mpi]") {
  using Expected = std::vector<std::pair<int, int>>;
  CHECK(halves(4, 2) == Expected{{0, 2}, {1, 3}});
  CHECK(halves(5, 9) == Expected{{0, 2}, {1, 3}});
  CHECK(halves(6, 1) == Expected{{0, 3}});
  CHECK(halves(1, 1).empty());
}

TEST_CASE("The share hidden is what was saved of what could be", "[mpi]") {
  CHECK(overlap_share(2.0, 2.0, 2.0).value() == 1.0);
  CHECK(overlap_share(2.0, 2.0, 4.0).value() == 0.0);
  CHECK(overlap_share(2.0, 4.0, 5.0).value() == 0.5);
  CHECK(overlap_share(2.0, 4.0, 9.0).value() == 0.0);
  CHECK_FALSE(overlap_share(0.0, 4.0, 4.0).has_value());
}

}  // namespace
