#include <string>
#include <vector>

#include "node/noise/stolen.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::node;

constexpr std::int64_t kRank = 40;

/// A CPU on which the rank is interrupted, preempted by make while it would run on, and then sleeps.
struct Scene {
  Culprits culprits;
  std::size_t rank = culprits.number({.source = Source::kTask, .name = "app", .pid = kRank});
  std::size_t make = culprits.number({.source = Source::kTask, .name = "make", .pid = 50});
  std::size_t tick = culprits.number({.source = Source::kTimer, .name = "tick"});
  std::vector<CpuHistory> cpus{{{
                                    {100, 100, rank, true, kRank},
                                    {200, 20, tick, true, kRank},
                                    {220, 80, rank, false, kRank},
                                    {300, 60, make, true, 50},
                                    {360, 10, tick, true, 50},
                                    {370, 30, make, false, 50},
                                    {400, 100, rank, true, kRank},
                                    {500, 200, make, true, 50},
                                },
                                {{300, kRank, 50, true}, {400, 50, kRank, true}, {500, kRank, 50, false}}},
                               {{{710, 40, make, true, 50}}, {{700, 0, kRank, false}}}};
};

TEST_CASE("stolen from a task: interrupts on top of it, and who ran while it would have") {
  const Scene scene;
  const auto stolen = stolen_from(kRank, scene.cpus, scene.culprits, 20);
  REQUIRE(stolen.size() == 4);
  CHECK(stolen[0] == Piece{200, 20, scene.tick, true, kRank});
  CHECK(stolen[1] == Piece{300, 60, scene.make, true, 0});
  CHECK(stolen[2] == Piece{360, 10, scene.tick, true, 0});
  CHECK(stolen[3].length == 30);
  // from 500 to 700 it slept, and came back on another CPU: nobody took that from it
}

TEST_CASE("a task that comes back on another CPU was kept waiting by the one that it left") {
  Scene scene;
  scene.cpus[0].changes[2].runnable = true;
  const auto stolen = stolen_from(kRank, scene.cpus, scene.culprits, 20);
  REQUIRE(stolen.size() == 5);
  CHECK(stolen[4].who == scene.make);
  CHECK(stolen[4].length == 200);
}

TEST_CASE("of many pieces the longest are told, in order of time") {
  const std::vector<Piece> pieces{{1, 5, 0}, {10, 1, 0}, {20, 9, 0}, {40, 7, 0}};
  const auto told = longest_of(pieces, 2);
  REQUIRE(told.size() == 2);
  CHECK(told[0].at == 20);
  CHECK(told[1].at == 40);
  CHECK(longest_of(pieces, 9) == pieces);
}

}  // namespace
