#include <array>
#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "mpi/plain/farm/kinds.hpp"
#include "tests/catch.hpp"

using namespace wulf::mpi;

namespace {

TEST_CASE("lengths are relative to their mean by shares") {
  const Kinds kinds("1:1, 9:3", 1);
  CHECK(kinds.shares() == std::vector<double>{0.25, 0.75});
  CHECK(kinds.lengths()[0] == Approx(1 / 7.0));
  CHECK(kinds.lengths()[1] == Approx(9 / 7.0));
}

TEST_CASE("units are of the kinds that their shares say, and the same ones for one seed") {
  const Kinds one("1:0.5,10:0.3,2:0.2", 7);
  const Kinds same("1:0.5,10:0.3,2:0.2", 7);
  const Kinds other("1:0.5,10:0.3,2:0.2", 8);
  constexpr std::uint32_t kUnits = 100'000;
  std::array<int, 3> count{};
  std::uint32_t differ = 0;
  double total = 0;
  for (std::uint32_t unit = 0; unit < kUnits; ++unit) {
    const std::size_t kind = one.of(unit);
    CHECK(kind == same.of(unit));
    ++count.at(kind);
    differ += kind == other.of(unit) ? 0U : 1U;
    total += one.lengths()[kind];
  }
  // five standard deviations of a binomial draw are 0.8 % of all units
  CHECK(count[0] == Approx(0.5 * kUnits).margin(0.008 * kUnits));
  CHECK(count[1] == Approx(0.3 * kUnits).margin(0.008 * kUnits));
  CHECK(differ > kUnits / 2);
  CHECK(one.mean(kUnits) == Approx(total / kUnits));
  CHECK(one.mean(kUnits) == Approx(1.0).margin(0.02));
  CHECK(one.mean(1) == one.lengths()[one.of(0)]);
}

TEST_CASE("each unit is done by its kind") {
  std::vector<double> made;
  const Kinds kinds("1:0.5,3:0.5", 1);
  const auto work = work_of_kinds(kinds, [&](double length) {
    made.push_back(length);
    return sha1_work(length < 1 ? 100 : 300);
  });
  CHECK(made == std::vector<double>{0.5, 1.5});
  const auto small = sha1_work(100);
  const auto large = sha1_work(300);
  std::vector<std::uint32_t> inputs{0, 1, 2, 3, 4, 5, 6, 7};
  std::vector<std::byte> digests(inputs.size() * kDigestBytes);
  work->done(inputs, digests.data());
  Digest sum{};
  Digest right{};
  fold(sum, digests);
  for (const std::uint32_t unit : inputs) {
    fold(right, (kinds.of(unit) == 0 ? *small : *large).expected(unit));
  }
  CHECK(sum == right);
  CHECK(expected_sum(*work, 0, 8) == right);
}

TEST_CASE("kinds that are none are refused") {
  for (const char* text : {"", "1", "1:", "1:0.5,", "1:0.5;2:0.5", "0:1", "-1:1", "1:0", "1:1e9", "nan:1",
                           "1:inf", "1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1,1:1"}) {
    CHECK_THROWS_AS(Kinds(text, 1), wulf::Error);
  }
}

}  // namespace
