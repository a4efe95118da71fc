#include <random>
#include <string>

#include "replay/engine_b/engine_b.hpp"
#include "replay/program/builder.hpp"
#include "tests/catch.hpp"
#include "tests/replay/programs.hpp"

namespace {

using namespace wulf;
using namespace wulf::replay;
using namespace wulf::replay_test;

constexpr std::int64_t kPicosecond = 1LL << kFractionBits;

std::vector<Picoseconds> ends_of(const Program& program, const Network& network) {
  return run_b(program, network, {.ends = true}).ends;
}

TEST_CASE("replay b: every rank ends when the brute-force reference says, to the picosecond") {
  std::mt19937_64 random(1);
  for (int i = 0; i < 3000; ++i) {
    const auto ranks = static_cast<std::uint32_t>(1 + (random() % 6));
    const Program program =
        random_program(random, {.ranks = ranks, .rounds = 1 + static_cast<int>(random() % 5)});
    Network network = random_network(random, ranks);
    network.progress = i % 2 == 0;
    network.in_order = i % 4 < 2;
    INFO("program " << i);
    REQUIRE(ends_of(program, network) == brute_force(program, network));
  }
}

TEST_CASE("replay b: as engine a, in times and parts, wherever the receiver's order can't differ") {
  std::mt19937_64 random(6);
  int alike = 0;
  for (int i = 0; i < 3000; ++i) {
    const Program program =
        random_program(random, {.ranks = 4, .rounds = 1 + static_cast<int>(random() % 4)});
    const Network network = random_network(random, 4);
    const RunOptions options{.ends = true, .parts = true};
    const Run a = run_a(program, {&network, 1}, options).at(0);
    if (a.inversions > 0 || brute_force(program, network) != brute_force(program, network, true)) {
      continue;
    }
    const Run b = run_b(program, network, options);
    INFO("program " << i);
    REQUIRE(b.ends == a.ends);
    CHECK(b.parts.compute == a.parts.compute);
    CHECK(b.parts.latency == a.parts.latency);
    CHECK(b.parts.bytes == a.parts.bytes);
    CHECK(b.parts.overhead == a.parts.overhead);
    CHECK(b.parts.waiting == a.parts.waiting);
    ++alike;
  }
  CHECK(alike > 500);
}

TEST_CASE("replay b: the parts of the critical path come to the time, and change nothing") {
  std::mt19937_64 random(2);
  for (int i = 0; i < 200; ++i) {
    const Program program = random_program(random, {.ranks = 4});
    Network network = random_network(random, 4);
    if (i % 2 == 0) {
      network.topology = {{"kind", "star"}, {"bytes_per_second", 3e11}, {"flow_bytes", 500}};
    }
    network.progress = i % 4 < 2;
    network.in_order = i % 8 < 4;
    const Run plain = run_b(program, network, {});
    const Run traced = run_b(program, network, {.parts = true});
    CHECK(traced.time == plain.time);
    CHECK(traced.parts.sum() == traced.time);
  }
}

TEST_CASE("replay b: networks shared out to threads give what they give one after another") {
  std::mt19937_64 random(3);
  const Program program = random_program(random, {.ranks = 5, .rounds = 10});
  std::vector<Network> networks;
  for (int i = 0; i < 24; ++i) {
    networks.push_back(random_network(random, 5));
    if (i % 3 == 0) {
      networks.back().topology = {{"kind", "star"}, {"bytes_per_second", 5e11}, {"flow_bytes", 0}};
    }
  }
  const auto alone = run_b_each(program, networks, {.ends = true});
  for (const unsigned threads : {2U, 3U, 8U, 100U}) {
    const auto shared = run_b_each(program, networks, {.ends = true, .threads = threads});
    REQUIRE(shared.size() == alone.size());
    for (std::size_t i = 0; i < alone.size(); ++i) {
      CHECK(shared[i].ends == alone[i].ends);
    }
  }
}

/// Both post a message each way, compute, and wait.
Program hidden(Picoseconds first, Picoseconds second) {
  ProgramBuilder builder(2);
  for (std::uint32_t r = 0; r < 2; ++r) {
    builder.add_recv(r, 1 - r, 101, 0, 0);
    builder.add_send(r, 1 - r, 101, 0, 1);
    builder.add_calc(r, r == 0 ? first : second);
    builder.add_wait(r, 0);
    builder.add_wait(r, 1);
  }
  return builder.finish();
}

TEST_CASE("replay b: a rendezvous hides behind computing only where it gets on without calls") {
  Network network;
  network.inter.latency = 10;
  network.inter.byte_fp = kPicosecond;
  network.inter.eager_bytes = 0;
  constexpr Picoseconds kExchange = (3 * 10) + 100;  // request, answer, and the data
  CHECK(ends_of(hidden(500, 500), network) == std::vector<Picoseconds>{500, 500});
  network.progress = false;
  // both answer at 500; the data leave 10 later, and take 10 + 100
  CHECK(ends_of(hidden(500, 500), network) == std::vector<Picoseconds>{620, 620});
  // rank 0's answer, of 500, finds rank 1 computing, whose data leave at 700; its own answer is sent then,
  // too
  CHECK(ends_of(hidden(500, 700), network) == std::vector<Picoseconds>{810, 820});
  CHECK(ends_of(hidden(0, 0), network) == std::vector<Picoseconds>{kExchange, kExchange});
  network.inter.eager_bytes = 101;
  CHECK(ends_of(hidden(500, 500), network) == std::vector<Picoseconds>{500, 500});
}

TEST_CASE("replay b: a call in the middle of computing lets a rendezvous get on") {
  ProgramBuilder builder(3);
  builder.add_recv(0, 1, 101, 0, 0);
  builder.add_calc(0, 200);
  builder.add_send(0, 2, 0, 1, 1);
  builder.add_wait(0, 1);
  builder.add_calc(0, 300);
  builder.add_wait(0, 0);
  builder.add_send(1, 0, 101, 0, 0);
  builder.add_wait(1, 0);
  builder.add_recv(2, 0, 0, 1, 0);
  builder.add_wait(2, 0);
  Network network;
  network.inter.latency = 10;
  network.inter.byte_fp = kPicosecond;
  network.inter.eager_bytes = 100;
  network.progress = false;
  // rank 0 sees the request at 200; its answer is there at 210, and the data are at 320, while it computes
  CHECK(ends_of(builder.finish(), network) == std::vector<Picoseconds>{500, 310, 210});
}

/// A rendezvous each way; rank 1 begins so much later.
Program exchanged(Picoseconds later) {
  ProgramBuilder builder(2);
  for (std::uint32_t r = 0; r < 2; ++r) {
    builder.add_calc(r, r == 0 ? 0 : later);
    builder.add_recv(r, 1 - r, 101, 0, 0);
    builder.add_send(r, 1 - r, 101, 0, 1);
    builder.add_wait(r, 0);
    builder.add_wait(r, 1);
  }
  return builder.finish();
}

/// Sending takes 1, requests and answers 10, data 100.
Network in_order_network() {
  Network network;
  network.inter.latency = 10;
  network.inter.send = 1;
  network.inter.byte_fp = kPicosecond;
  network.inter.eager_bytes = 100;
  network.in_order = true;
  return network;
}

TEST_CASE("replay b: large messages that cross take turns where one end begins more than a latency later") {
  Network network = in_order_network();
  // both requests are answered before any data leave
  CHECK(ends_of(exchanged(0), network) == std::vector<Picoseconds>{131, 131});
  CHECK(ends_of(exchanged(9), network) == std::vector<Picoseconds>{140, 131});
  // rank 1 answers at 20, and asks at 21; rank 0's data leave at 30, and its answer behind them, at 130; rank
  // 1's leave at 140
  CHECK(ends_of(exchanged(20), network) == std::vector<Picoseconds>{250, 240});
  network.in_order = false;
  CHECK(ends_of(exchanged(20), network) == std::vector<Picoseconds>{151, 141});
}

TEST_CASE("replay b: a request that comes while its receiver computes is seen where that waits") {
  Network network = in_order_network();
  network.progress = false;
  // rank 1 posts its own before it sees rank 0's: both are answered before data leave
  CHECK(ends_of(exchanged(50), network) == std::vector<Picoseconds>{181, 171});
}

TEST_CASE("replay b: what waits behind a message that flows goes on when that is through") {
  Network network = in_order_network();
  network.topology = {{"kind", "star"}, {"bytes_per_second", 5e11}, {"flow_bytes", 0}};
  // the star's links take 2 a byte: the data leave from 30 to 230, the answer then, and the other data from
  // 240 on
  CHECK(ends_of(exchanged(20), network) == std::vector<Picoseconds>{450, 440});
  network.in_order = false;
  CHECK(ends_of(exchanged(20), network) == std::vector<Picoseconds>{251, 241});
}

TEST_CASE("replay b: an eager message waits behind a rendezvous' data where all is in order") {
  ProgramBuilder builder(2);
  builder.add_send(0, 1, 101, 0, 0);
  builder.add_calc(0, 50);
  builder.add_send(0, 1, 1, 0, 1);
  builder.add_wait(0, 0);
  builder.add_recv(1, 0, 101, 0, 0);
  builder.add_recv(1, 0, 1, 0, 1);
  builder.add_wait(1, 1);
  builder.add_calc(1, 50);
  builder.add_wait(1, 0);
  const Program program = builder.finish();
  Network network = in_order_network();
  network.receiver_gap = false;
  CHECK(ends_of(program, network) == std::vector<Picoseconds>{121, 131 + 50});
  network.in_order = false;
  CHECK(ends_of(program, network) == std::vector<Picoseconds>{121, 131});
}

/// Rank 0 waits for all others' messages, in the order of their ranks, in one call or several; rank 1 sends
/// late.
Program gathered(bool one_call) {
  constexpr std::uint32_t kOthers = 3;
  ProgramBuilder builder(kOthers + 1);
  for (std::uint32_t r = 1; r <= kOthers; ++r) {
    builder.add_recv(0, r, 1, 0, r);
    builder.add_calc(r, r == 1 ? 1000 : 0);
    builder.add_send(r, 0, 1, 0, 0);
    builder.add_wait(r, 0);
  }
  for (std::uint32_t r = 1; r <= kOthers; ++r) {
    builder.add_wait(0, r, one_call ? 1 : r);
  }
  return builder.finish();
}

TEST_CASE("replay b: receives that one call waits for are taken as they come") {
  Network network;
  network.inter.latency = 10;
  network.inter.receive = 7;
  // the others' are taken before the late one is there
  CHECK(run_b(gathered(true), network, {}).time == 1010 + 7);
  CHECK(run_b(gathered(false), network, {}).time == 1010 + (3 * 7));
  const Network plain = network;
  CHECK(run_a(gathered(true), {&plain, 1}, {}).at(0).time == 1010 + (3 * 7));
}

TEST_CASE("replay b: a deadlock is named, from one thread or several") {
  ProgramBuilder builder(2);
  for (std::uint32_t r = 0; r < 2; ++r) {
    builder.add_send(r, 1 - r, 1000, 0, 0);
    builder.add_wait(r, 0);
    builder.add_recv(r, 1 - r, 1000, 0, 1);
    builder.add_wait(r, 1);
  }
  const Program program = builder.finish();
  Network network;
  network.inter.eager_bytes = 1000;
  CHECK(run_b(program, network, {}).time == 0);
  network.inter.eager_bytes = 999;
  try {
    (void)run_b_each(program, std::vector{network, network}, {.threads = 2});
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.code() == "deadlock");
    CHECK(std::string(error.what()).find("rank 0") != std::string::npos);
    CHECK(std::string(error.what()).find("rank 1") != std::string::npos);
  }
}

/// Ranks 1 and 2 send to rank 0, which takes whoever comes, and computes after each; rank 1 sends later.
Program two_to_one(std::uint64_t wanted, std::uint64_t tag, Picoseconds later) {
  ProgramBuilder builder(3);
  for (const std::uint32_t slot : {0U, 1U}) {
    builder.add_recv(0, kAnyPeer, 8, wanted, slot);
    builder.add_wait(0, slot);
    builder.add_calc(0, 100);
  }
  builder.add_calc(1, later);
  builder.add_send(1, 0, 8, tag, 0);
  builder.add_send(2, 0, 8, tag, 0);
  return builder.finish();
}

TEST_CASE("replay b: a wildcard takes whoever comes first") {
  Network network;
  network.inter.latency = 1000;
  constexpr std::uint64_t kTag = 5;
  constexpr std::uint64_t kOfCommunicator = (1ULL << 32U) | kTag;
  using Tags = std::pair<std::uint64_t, std::uint64_t>;
  for (const auto& [wanted, tag] : {Tags{kTag, kTag}, {kAnyTag, kTag}, {kOfCommunicator, kOfCommunicator}}) {
    CHECK(run_b(two_to_one(wanted, tag, 0), network, {}).time == 1200);
    CHECK(run_b(two_to_one(wanted, tag, 50), network, {}).time == 1200);
    CHECK(run_b(two_to_one(wanted, tag, 250), network, {}).time == 1350);
  }
}

TEST_CASE("replay b: with wildcards, messages of one sender stay in order") {
  // A large eager message, then a request, which needs no NIC: the receive for anyone takes the first.
  ProgramBuilder builder(2);
  builder.add_send(1, 0, 100, 1, 0);
  builder.add_send(1, 0, 100, 1, 1);
  builder.add_send(1, 0, 500, 2, 2);
  builder.add_recv(0, kAnyPeer, 500, kAnyTag, 0);
  builder.add_wait(0, 0);
  builder.add_calc(0, 7);
  for (const std::uint32_t slot : {1U, 2U}) {
    builder.add_recv(0, 1, 500, kAnyTag, slot);
    builder.add_wait(0, slot);
  }
  const Program program = builder.finish();
  Network network;
  network.inter.latency = 10;
  network.inter.byte_fp = kPicosecond;
  network.inter.eager_bytes = 100;
  // first message: 10 + 99; second: leaves at 99, its NIC done with the first at 109, there at 208;
  // the request is seen behind it, at 109, met at 208, and its data come 20 + 499 later
  CHECK(run_b(program, network, {}).time == 208 + 20 + 499);
}

TEST_CASE("replay b: a rendezvous with a wildcard begins when both are there") {
  for (const Picoseconds busy : {0, 500}) {
    ProgramBuilder builder(2);
    builder.add_calc(0, busy);
    builder.add_recv(0, kAnyPeer, 101, 3, 0);
    builder.add_wait(0, 0);
    builder.add_send(1, 0, 101, 3, 0);
    builder.add_wait(1, 0);
    const Program program = builder.finish();
    Network network;
    network.inter.latency = 10;
    network.inter.byte_fp = kPicosecond;
    network.inter.eager_bytes = 0;
    const Picoseconds met = std::max<Picoseconds>(busy, 10);
    CHECK(ends_of(program, network) == std::vector<Picoseconds>{met + 20 + 100, met + 10 + 100});
  }
}

TEST_CASE("replay b: no wildcard takes a collective's message") {
  ProgramBuilder builder(2);
  builder.add_recv(0, kAnyPeer, 8, kAnyTag, 0);
  builder.add_recv(0, 1, 8, 1ULL << 63U, 1);
  builder.add_wait(0, 1);
  builder.add_wait(0, 0);
  builder.add_send(1, 0, 8, 1ULL << 63U, 0);
  builder.add_calc(1, 1000);
  builder.add_send(1, 0, 8, 4, 1);
  CHECK(run_b(builder.finish(), Network{}, {}).time == 1000);
}

TEST_CASE("replay b: receives that name their sender end alike whether matched before or live") {
  // One wildcard makes all of a rank's receives live; here it can take only one message, so that all the rest
  // must be as the reference has it for a program that names every sender.
  std::mt19937_64 random(4);
  for (int i = 0; i < 300; ++i) {
    const std::uint64_t seed = random();
    const auto build = [seed](bool wildcard) {
      std::mt19937_64 same(seed);
      ProgramBuilder builder(3);
      for (std::uint32_t k = 0; k < 6; ++k) {
        const std::uint64_t bytes = 1 + (same() % 3000);
        const auto from = static_cast<std::uint32_t>(1 + (same() % 2));
        builder.add_calc(from, static_cast<Picoseconds>(same() % 2000));
        builder.add_send(from, 0, bytes, 10 + (k % 2), k);
        builder.add_recv(0, from, bytes, 10 + (k % 2), k);
      }
      builder.add_send(1, 0, 77, 99, 50);
      builder.add_recv(0, wildcard ? kAnyPeer : 1, 77, 99, 50);
      for (std::uint32_t k = 0; k < 6; ++k) {
        builder.add_wait(0, (k + 3) % 6);
      }
      builder.add_wait(0, 50);
      return builder.finish();
    };
    // A live rendezvous' request stays behind the eager messages of its pair, which may wait for their NIC.
    Network network = random_network(random, 3);
    network.inter.eager_bytes = network.intra.eager_bytes = i % 2 == 0 ? UINT64_MAX : 0;
    network.progress = i % 4 < 2;
    INFO("program " << i);
    CHECK(ends_of(build(true), network) == brute_force(build(false), network));
  }
}

}  // namespace
