#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "node/memory/chase.hpp"
#include "tests/catch.hpp"
#include "tests/refusal.hpp"

namespace {

using namespace wulf::node;
using wulf::tests::refusal;

/// Every place that a chain visits until it is back, as offsets.
std::vector<std::size_t> visits(void* head, const std::byte* base) {
  std::vector<std::size_t> places;
  void* at = head;
  do {
    places.push_back(static_cast<std::size_t>(static_cast<std::byte*>(at) - base));
    at = *static_cast<void**>(at);
  } while (at != head && places.size() < 1'000'000);
  return places;
}

constexpr std::size_t kLine = 64;

TEST_CASE("a random chase is one cycle that visits every line once") {
  const std::size_t lines = GENERATE(as<std::size_t>{}, 1, 2, 3, 257, 4096);
  std::vector<std::uint64_t> memory(lines * kLine / sizeof(std::uint64_t));
  auto* base = reinterpret_cast<std::byte*>(memory.data());
  Random random(lines);
  const Chains chains = link_random({base, lines * kLine}, kLine, 1, random);
  REQUIRE(chains.heads.size() == 1);
  CHECK(chains.places == lines);
  const std::vector<std::size_t> places = visits(chains.heads[0], base);
  const std::set<std::size_t> distinct(places.begin(), places.end());
  CHECK(places.size() == lines);
  CHECK(distinct.size() == lines);
  CHECK(*distinct.begin() == 0);
  CHECK(*distinct.rbegin() == (lines - 1) * kLine);
}

TEST_CASE("the order is random: neighbours seldom follow one another, and seeds differ") {
  Random one(1);
  Random two(2);
  const auto order = shuffled(10'000, one);
  CHECK(order != shuffled(10'000, two));
  int ascending = 0;
  for (std::size_t i = 1; i < order.size(); ++i) {
    ascending += order[i] == order[i - 1] + 1 ? 1 : 0;
  }
  CHECK(ascending < 20);  // one is expected
}

TEST_CASE("chains are disjoint, alike in length, and together visit every line") {
  constexpr std::size_t kLines = 1000;
  std::vector<std::uint64_t> memory(kLines * kLine / sizeof(std::uint64_t));
  auto* base = reinterpret_cast<std::byte*>(memory.data());
  Random random(7);
  const Chains chains = link_random({base, kLines * kLine}, kLine, 7, random);
  std::set<std::size_t> all;
  for (void* head : chains.heads) {
    const auto places = visits(head, base);
    CHECK((places.size() == 142 || places.size() == 143));
    for (const std::size_t place : places) {
      CHECK(all.insert(place).second);
    }
  }
  CHECK(all.size() == kLines);
}

TEST_CASE("a stride ascends and comes back to the first") {
  std::vector<std::uint64_t> memory(1024 / sizeof(std::uint64_t));
  auto* base = reinterpret_cast<std::byte*>(memory.data());
  const Chains chains = link_ascending({base, 1024}, 256);
  CHECK(visits(chains.heads[0], base) == std::vector<std::size_t>{0, 256, 512, 768});
}

TEST_CASE("a walk follows each chain by as many loads as it says") {
  constexpr std::size_t kLines = 640;
  std::vector<std::uint64_t> memory(kLines * kLine / sizeof(std::uint64_t));
  auto* base = reinterpret_cast<std::byte*>(memory.data());
  const std::size_t count = GENERATE(as<std::size_t>{}, 1, 2, 5, 16, 31, 32);
  Random random(3);
  Chains chains = link_random({base, kLines * kLine}, kLine, count, random);
  const Chains before = chains;
  constexpr std::uint64_t kSteps = 131;
  walk(chains, kSteps);
  for (std::size_t i = 0; i < count; ++i) {
    const auto cycle = visits(before.heads[i], base);
    CHECK(chains.heads[i] == base + cycle[kSteps % cycle.size()]);
  }
}

TEST_CASE("more chains than lines are refused with both figures") {
  std::vector<std::uint64_t> memory(2 * kLine / sizeof(std::uint64_t));
  Random random(1);
  const std::string message = refusal([&] {
    (void)link_random({reinterpret_cast<std::byte*>(memory.data()), 2 * kLine}, kLine, 3, random);
  });
  CHECK(message ==
        "bad-parameter: 3 chains need as many lines, but there are 2: more bytes, or fewer chains");
}

}  // namespace
