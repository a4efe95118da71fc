#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "mpi/plain/farm/team.hpp"
#include "mpi/plain/farm/work.hpp"
#include "tests/catch.hpp"

using namespace wulf::mpi;

namespace {

TEST_CASE("a team's digests are those of one thread, whatever the batch") {
  const auto alone = sha1_work(100);
  for (const int threads : {2, 3, 8}) {
    TeamWork team(threads, [] { return sha1_work(100); });
    CHECK(team.by() == alone->by());
    for (const std::size_t units : {1U, 2U, 5U, 8U, 100U}) {
      std::vector<std::uint32_t> inputs(units);
      std::iota(inputs.begin(), inputs.end(), 7U);
      std::vector<std::byte> one(units * kDigestBytes);
      std::vector<std::byte> other(units * kDigestBytes);
      alone->done(inputs, one.data());
      for (int again = 0; again < 20; ++again) {
        std::fill(other.begin(), other.end(), std::byte{0});
        team.done(inputs, other.data());
        REQUIRE(other == one);
      }
    }
  }
}

TEST_CASE("a team that has had no work ends") {
  const TeamWork team(4, [] { return spin_work(1e-6); });
  CHECK(team.seconds() == 1e-6);
}

}  // namespace
