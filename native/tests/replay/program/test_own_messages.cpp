#include <random>

#include "replay/program/own_messages.hpp"
#include "replay/run/run.hpp"
#include "tests/catch.hpp"
#include "tests/replay/programs.hpp"

namespace {

using namespace wulf;
using namespace wulf::replay;
using namespace wulf::replay_test;

constexpr std::int64_t kPicosecond = 1LL << kFractionBits;
constexpr CopyCosts kCosts{.send = 100, .receive = 200, .byte_fp = kPicosecond / 2};

Run run_one(const Program& program, const Network& network) {
  return run_a(program, {&network, 1}, {.ends = true}).front();
}

Network slow_network() {
  Network network;
  network.inter = {
      .latency = 1'000'000, .send = 2000, .receive = 3000, .gap = 50'000, .byte_fp = 80 * kPicosecond};
  network.intra = network.inter;
  return network;
}

TEST_CASE("replay own messages: a copy costs no network, and waits for no NIC") {
  ProgramBuilder builder(2);
  builder.add_recv(0, 0, 1000, 7, 0);
  builder.add_send(0, 1, 500, 7, 1);
  builder.add_send(0, 0, 1000, 7, 2);
  builder.add_wait(0, 0);
  builder.add_wait(0, 1);
  builder.add_wait(0, 2);
  builder.add_recv(1, 0, 500, 7, 0);
  builder.add_wait(1, 0);
  Program program = builder.finish();
  const Network network = slow_network();
  const Copies copies = copy_own_messages(program, kCosts);
  CHECK(copies.messages == 1);
  CHECK(copies.bytes == 1000);
  CHECK(program.messages.count() == 1);
  CHECK(program.total_bytes() == 500);
  const Run run = run_one(program, network);
  CHECK(run.ends[0] == 2000 + 100 + 200 + 500);  // its send to the other, and the copy
  CHECK(run.ends[1] == 2000 + 1'000'000 + (499 * 80) + 3000);
}

TEST_CASE("replay own messages: what a rank with wildcards receives stays a message") {
  ProgramBuilder builder(2);
  builder.add_recv(0, kAnyPeer, 8, 1, 0);
  builder.add_send(0, 0, 8, 1, 1);
  builder.add_wait(0, 0);
  builder.add_send(1, 1, 8, 1, 0);
  builder.add_recv(1, 1, 8, 1, 1);
  builder.add_wait(1, 1);
  Program program = builder.finish();
  CHECK(copy_own_messages(program, kCosts).messages == 1);
  REQUIRE(program.messages.count() == 1);
  CHECK(program.messages.to[0] == 0);
  CHECK(program.live.count() == 1);
}

TEST_CASE("replay own messages: without any the program is as it was") {
  ProgramBuilder builder(2);
  builder.add_send(0, 1, 8, 1, 0);
  builder.add_recv(1, 0, 8, 1, 0);
  builder.add_wait(1, 0);
  Program program = builder.finish();
  CHECK(copy_own_messages(program, kCosts).messages == 0);
  CHECK(program.durations.empty());
}

TEST_CASE("replay own messages: programs without theirs end as by brute force") {
  std::mt19937_64 random(21);
  std::size_t copied = 0;
  std::size_t compared = 0;
  for (int i = 0; i < 500; ++i) {
    const auto ranks = static_cast<std::uint32_t>(1 + (random() % 4));
    Program program = random_program(random, {.ranks = ranks, .rounds = 3});
    const Network network = random_network(random, ranks);
    const std::uint64_t before = program.total_bytes();
    const Copies copies = copy_own_messages(program, kCosts);
    copied += copies.messages;
    INFO("program " << i);
    REQUIRE(program.total_bytes() + copies.bytes == before);
    for (std::uint32_t message = 0; message < program.messages.count(); ++message) {
      REQUIRE(program.arg[program.messages.send_op[message]] == message);
      REQUIRE(program.messages.from[message] != program.messages.to[message]);
    }
    const Run run = run_one(program, network);
    if (run.inversions == 0) {
      ++compared;
      REQUIRE(run.ends == brute_force(program, network, true));
    }
  }
  CHECK(copied > 500);
  CHECK(compared > 100);
}

}  // namespace
