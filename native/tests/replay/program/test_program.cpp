#include <cstdint>
#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "core/session/registry.hpp"
#include "replay/program/builder.hpp"
#include "replay/run/engine.hpp"
#include "tests/catch.hpp"
#include "tests/refusal.hpp"

namespace {

using namespace wulf;
using namespace wulf::replay;
using Catch::Contains;

std::string refusal(ProgramBuilder& builder) {
  return tests::refusal([&] { (void)builder.finish(); });
}

TEST_CASE("replay program: the k-th send with a tag is the k-th receive of that tag") {
  ProgramBuilder builder(2);
  builder.add_send(0, 1, 10, 5, 0);
  builder.add_send(0, 1, 20, 6, 1);
  builder.add_send(0, 1, 30, 5, 2);
  builder.add_recv(1, 0, 0, 6, 0);
  builder.add_recv(1, 0, 0, 5, 1);
  builder.add_recv(1, 0, 0, 5, 2);
  builder.add_wait(1, 1);
  const Program program = builder.finish();
  CHECK(program.arg[program.first[1]] == 1);
  CHECK(program.arg[program.first[1] + 1] == 0);
  CHECK(program.arg[program.first[1] + 2] == 2);
  CHECK(program.kind.back() == OpKind::kWaitRecv);
  CHECK(program.arg.back() == 0);
  CHECK(program.bytes_of(2) == 30);
  CHECK(program.total_bytes() == 60);
}

TEST_CASE(
    "replay program: ranks may be added in any order, and many messages to one are matched by hashing") {
  constexpr std::uint32_t kRanks = 200;
  ProgramBuilder builder(kRanks);
  for (std::uint32_t rank = kRanks - 1; rank > 0; --rank) {
    builder.add_recv(0, rank, 0, rank % 3, rank);
  }
  for (std::uint32_t rank = kRanks - 1; rank > 0; --rank) {
    builder.add_send(rank, 0, rank, rank % 3, 0);
    builder.add_wait(0, rank);
  }
  const Program program = builder.finish();
  for (std::uint32_t message = 0; message < kRanks - 1; ++message) {
    CHECK(program.messages.from[message] == message + 1);
    const std::uint32_t op = program.messages.recv_op[message];
    CHECK(op == kRanks - 2 - message);
    CHECK(program.rank_of(op) == 0);
    CHECK(program.rank_of(program.messages.send_op[message]) == message + 1);
  }
}

TEST_CASE("replay program: what has no partner is named by rank and operation") {
  ProgramBuilder builder(3);
  builder.add_calc(1, 5);
  builder.add_send(1, 2, 8, 7, 0, 42);
  builder.add_recv(2, 1, 8, 6, 0);
  const std::string text = refusal(builder);
  CHECK(text.rfind("unmatched: 2 ", 0) == 0);
  CHECK(text.find("rank 1, operation 1 (record 42): send to rank 2 with tag 7") != std::string::npos);
  CHECK(text.find("rank 2, operation 0: receive from rank 1 with tag 6") != std::string::npos);
}

TEST_CASE("replay program: slots are taken from the post to the wait") {
  ProgramBuilder twice(1);
  twice.add_send(0, 0, 8, 7, 3);
  twice.add_recv(0, 0, 8, 7, 3);
  CHECK(refusal(twice).find("rank 0, operation 1 posts to slot 3, which is taken") != std::string::npos);
  ProgramBuilder early(1);
  early.add_wait(0, 9);
  CHECK(refusal(early).find("rank 0, operation 0 waits for slot 9, which is not taken") != std::string::npos);
}

TEST_CASE("replay program: a wildcard leaves all of its rank's receives to be matched live") {
  ProgramBuilder builder(2);
  builder.add_send(0, 1, 8, 1, 0);
  builder.add_recv(1, kAnyPeer, 8, 1, 0);
  builder.add_recv(1, 0, 8, kAnyTag, 1);
  builder.add_wait(1, 1);
  const Program program = builder.finish();
  CHECK(program.live.count() == 2);
  CHECK(program.messages.recv_op[0] == kNone);
  CHECK(program.kind.back() == OpKind::kWaitLive);
  CHECK(program.arg.back() == 1);
}

TEST_CASE("replay program: ranks and peers beyond the program are refused") {
  ProgramBuilder builder(2);
  CHECK_THROWS_AS(builder.add_calc(2, 1), Error);
  CHECK_THROWS_AS(builder.add_send(0, 2, 8, 0, 0), Error);
  CHECK_THROWS_AS(ProgramBuilder(0), Error);
}

TEST_CASE("replay program: a rank computes for no longer than picoseconds can say") {
  ProgramBuilder builder(2);
  builder.add_calc(0, kMostCompute);
  builder.add_calc(1, kMostCompute - 1);
  builder.add_calc(1, 1);
  CHECK_THROWS_WITH(builder.add_calc(1, 1), Contains("rank 1 computes for more than 53 days"));
  ProgramBuilder slower(1, 1000 * ProgramBuilder::kUnscaled);
  slower.add_calc(0, kMostCompute / 1000);
  CHECK_THROWS_WITH(slower.add_calc(0, kMostCompute), Contains("53 days"));
}

TEST_CASE("replay program: all its messages take no longer than picoseconds can say, one after another") {
  constexpr int kMessages = 1200;  // of 4,000 s each at most: 55 days
  ProgramBuilder builder(2);
  for (int i = 0; i < kMessages; ++i) {
    builder.add_send(0, 1, 8, 0, 0);
    builder.add_wait(0, 0);
    builder.add_recv(1, 0, 8, 0, 0);
    builder.add_wait(1, 0);
  }
  const Program program = builder.finish();
  constexpr std::int64_t kSlow = 1'000'000'000'000'000;
  const Json inter{
      {"latency_ps", kSlow}, {"send_ps", 0}, {"receive_ps", kSlow}, {"gap_ps", 0}, {"byte_fp", 0}};
  const std::vector<Network> slow{parse_network({{"inter", inter}}, 2)};
  REQUIRE_FALSE(Registry<Engine>::all().empty());
  for (const Engine* engine : Registry<Engine>::all()) {
    INFO(engine->name());
    CHECK_THROWS_WITH(engine->run(program, slow, {}), Contains("53 days"));
  }
}

}  // namespace
