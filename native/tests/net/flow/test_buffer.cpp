#include <cstddef>

#include "net/flow/buffer.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::net;

TEST_CASE("a warm buffer stays in its place, a cold one goes round its room") {
  Buffer warm(100);
  CHECK(warm.next().data() == warm.span().data());
  Buffer cold(100, 1000);
  const std::byte* first = cold.span().data();
  CHECK(cold.next().data() == first + 128);  // on a cache line of its own
  int places = 1;
  while (cold.next().data() != first) {
    CHECK(cold.span().size() == 100);
    ++places;
    REQUIRE(places < 100);
  }
  CHECK(places == 7);
}

}  // namespace
