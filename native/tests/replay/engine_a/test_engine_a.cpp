#include <random>
#include <string>
#include <utility>

#include "replay/engine_a/sensitivity.hpp"
#include "replay/program/schedules.hpp"
#include "replay/run/run.hpp"
#include "tests/catch.hpp"
#include "tests/replay/programs.hpp"

namespace {

using namespace wulf;
using namespace wulf::replay;
using namespace wulf::replay_test;

constexpr std::int64_t kPicosecond = 1LL << kFractionBits;

Run run_one(const Program& program, const Network& network, const RunOptions& options = {.ends = true}) {
  return run_a(program, {&network, 1}, options).front();
}

Network plain_network() {
  Network network;
  network.inter = {.latency = 1'000'000,
                   .send = 200'000,
                   .receive = 300'000,
                   .gap = 100'000,
                   .byte_fp = 80 * kPicosecond,
                   .eager_bytes = 1000};
  network.intra = network.inter;
  return network;
}

TEST_CASE("replay a: without inversions every rank ends as by brute force") {
  std::mt19937_64 random(11);
  std::size_t same_order = 0;
  std::size_t large = 0;  // of those, with rendezvous
  for (int i = 0; i < 2000; ++i) {
    const auto ranks = static_cast<std::uint32_t>(1 + (random() % 6));
    const Program program =
        random_program(random, {.ranks = ranks, .rounds = 1 + static_cast<int>(random() % 5)});
    Network network = random_network(random, ranks);
    INFO("program " << i);
    for (const bool gap : {network.receiver_gap, false}) {
      network.receiver_gap = gap;
      const Run run = run_one(program, network);
      if (run.inversions == 0) {
        ++same_order;
        large += network.inter.eager_bytes < Recipe().most_bytes ? 1 : 0;
        REQUIRE(run.ends == brute_force(program, network, true));
      }
    }
  }
  CHECK(same_order > 200);
  CHECK(large > 100);
}

TEST_CASE("replay a: networks in one pass, in any number of threads, give what each gives alone") {
  std::mt19937_64 random(12);
  const Program program = random_program(random, {.ranks = 5, .rounds = 10});
  std::vector<Network> networks;
  for (int i = 0; i < 40; ++i) {
    networks.push_back(random_network(random, 5));
    if (i % 3 != 0) {
      networks.back().hosts.clear();  // those are put into the same passes
    }
    if (i < 27) {  // passes without rendezvous, of which one takes over the memory of another
      for (LinkClass* costs : {&networks.back().inter, &networks.back().intra}) {
        costs->eager_bytes = UINT64_MAX;
      }
    }
  }
  for (const unsigned threads : {1U, 2U, 7U}) {
    const std::vector<Run> together = run_a(program, networks, {.ends = true, .threads = threads});
    for (std::size_t i = 0; i < networks.size(); ++i) {
      const Run alone = run_one(program, networks[i]);
      INFO("network " << i);
      CHECK(together[i].ends == alone.ends);
      CHECK(together[i].time == alone.time);
      CHECK(together[i].inversions == alone.inversions);
    }
  }
}

TEST_CASE("replay a: the parts of the critical path come to the time") {
  std::mt19937_64 random(13);
  for (int i = 0; i < 500; ++i) {
    const Program program = random_program(random, {.ranks = 4});
    const Run run = run_one(program, random_network(random, 4), {.parts = true});
    INFO("program " << i);
    REQUIRE(run.parts.sum() == run.time);
  }
}

/// Every value of a range against a run of its own.
void check_latencies(const Program& program, Network network, const std::vector<Segment>& segments) {
  std::size_t segment = 0;
  for (std::int64_t x = segments.front().from; x <= segments.back().to; x += 7) {
    while (x > segments[segment].to) {
      ++segment;
    }
    network.inter.latency = x;
    network.own_intra = true;
    REQUIRE(static_cast<Picoseconds>(segments[segment].line.at(x)) == run_one(program, network).time);
  }
}

TEST_CASE("replay a: the time over the latency is what a sweep of runs shows, to the picosecond") {
  std::mt19937_64 random(14);
  std::size_t most = 0;
  for (int i = 0; i < 20; ++i) {
    const Program program = random_program(random, {.ranks = 4, .rounds = 4});
    Network network = random_network(random, 4);
    network.own_intra = true;
    Sensitivity sensitivity(program, network, Over::kLatency);
    const std::vector<Segment> segments = sensitivity.segments(0, 5000, 1000);
    INFO("program " << i);
    for (std::size_t k = 1; k < segments.size(); ++k) {
      REQUIRE(segments[k - 1].line.slope < segments[k].line.slope);
    }
    check_latencies(program, network, segments);
    most = std::max(most, segments.size());
  }
  CHECK(most > 2);
}

TEST_CASE("replay a: the time over the cost per byte is a sweep's, but for each message's rounding") {
  std::mt19937_64 random(15);
  for (int i = 0; i < 20; ++i) {
    const Program program = random_program(random, {.ranks = 4, .rounds = 3});
    Network network = random_network(random, 4);
    network.own_intra = true;
    Sensitivity sensitivity(program, network, Over::kByte);
    for (const Segment& each : sensitivity.segments(0, 20 * kPicosecond, 1000)) {
      for (const std::int64_t x : {each.from, (each.from + each.to) / 2, each.to}) {
        network.inter.byte_fp = x;
        const Fine exact = each.line.at(x);
        const Fine rounded = Fine{run_one(program, network).time} << kFineBits;
        INFO("program " << i << " at " << x);
        CHECK(rounded <= exact);
        CHECK(exact - rounded < Fine(4 * program.ops())
                                    << kFineBits);  // four costs a message are rounded down
      }
    }
  }
}

TEST_CASE("replay: messages up to the eager limit have a time of a byte of their own") {
  Network network = plain_network();
  network.inter.eager_more_fp = -60 * kPicosecond;
  const LinkClass& k = network.inter;
  const Picoseconds fixed = k.send + k.latency + k.receive;
  const Picoseconds eager = fixed + (Picoseconds{999} * 20);
  const Picoseconds asked = fixed + (2 * k.latency) + (Picoseconds{1000} * 80);
  for (const auto& [bytes, way] : {std::pair<std::uint64_t, Picoseconds>{1000, eager}, {1001, asked}}) {
    const Program program = make_schedule({.kind = "ring", .ranks = 2, .bytes = bytes}, kPicosecond);
    INFO(bytes << " bytes");
    CHECK(run_one(program, network).time == 2 * way);
    CHECK(run_b(program, network, {}).time == 2 * way);
  }
  // a byte that takes less than nothing takes nothing: the time does not depend on G there
  const Program small = make_schedule({.kind = "ring", .ranks = 2, .bytes = 1000}, kPicosecond);
  Sensitivity sensitivity(small, network, Over::kByte);
  const std::vector<Segment> segments = sensitivity.segments(0, 80 * kPicosecond, 10);
  REQUIRE(segments.size() == 2);
  CHECK(segments[0].to == 60 * kPicosecond);
  CHECK(segments[0].line.slope == 0);
  CHECK(segments[1].line.slope == Fine{2} * 999);
  // that of larger ones does, from no G at all on
  const Program large = make_schedule({.kind = "ring", .ranks = 2, .bytes = 1001}, kPicosecond);
  Sensitivity of_large(large, network, Over::kByte);
  const std::vector<Segment> one = of_large.segments(0, 80 * kPicosecond, 10);
  REQUIRE(one.size() == 1);
  CHECK(one[0].line.slope == Fine{2} * 1000);
}

TEST_CASE("replay a: the tolerance is the last value that keeps within the time") {
  const Program program = make_schedule({.kind = "ring", .ranks = 8, .bytes = 100}, kPicosecond);
  const Network network = plain_network();
  Sensitivity sensitivity(program, network, Over::kLatency);
  const Picoseconds now = run_one(program, network).time;
  const auto reached =
      sensitivity.reaches(now + (Picoseconds{8} * 1234) + 7, network.inter.latency, 1'000'000'000);
  REQUIRE(reached);
  CHECK(*reached == network.inter.latency + 1234);
  CHECK_FALSE(sensitivity.reaches(Fine{now} * 1000, network.inter.latency, network.inter.latency + 10));
}

TEST_CASE("replay a: closed forms of ping-pong, ring, dissemination, binary tree and incast") {
  const Network network = plain_network();
  const LinkClass& k = network.inter;
  const auto time = [&](const std::string& kind, std::uint32_t ranks, std::uint64_t bytes) {
    return run_one(make_schedule({.kind = kind, .ranks = ranks, .bytes = bytes}, kPicosecond), network).time;
  };
  const auto message = [&](std::uint64_t bytes) { return k.send + k.latency + k.stretch(bytes) + k.receive; };
  CHECK(time("pingpong", 2, 8) == 2 * message(8));
  CHECK(time("ring", 7, 100) == 7 * message(100));
  CHECK(time("dissemination", 1024, 1) == 10 * message(1));
  // the deepest leaf is its parents' second child, and they send to the first before
  CHECK(time("binary-tree", 15, 1) == 3 * (message(1) + k.send));
  // eager: they arrive at the same time, and the receiver's CPU is slower than its NIC, or its NIC slower
  CHECK(time("incast", 9, 1000) == k.send + k.latency + k.stretch(1000) + (8 * k.receive));
  Network quick = network;
  quick.inter.receive = 10'000;
  CHECK(run_one(make_schedule({.kind = "incast", .ranks = 9, .bytes = 1000}, kPicosecond), quick).time ==
        k.send + k.latency + (7 * (k.gap + k.stretch(1000))) + k.stretch(1000) + 10'000);
  // rendezvous: after the handshake as eager messages
  CHECK(time("incast", 9, 1001) == k.send + (3 * k.latency) + k.stretch(1001) + (8 * k.receive));
  CHECK(run_one(make_schedule({.kind = "incast", .ranks = 9, .bytes = 1001}, kPicosecond), quick).time ==
        k.send + (3 * k.latency) + (7 * (k.gap + k.stretch(1001))) + k.stretch(1001) + 10'000);
}

TEST_CASE("replay a: a large message does not wait for those sent before it, which may need it first") {
  ProgramBuilder builder(2);
  builder.add_send(0, 1, 1001, 1, 0);
  builder.add_send(0, 1, 2001, 2, 1);
  builder.add_wait(0, 0);
  builder.add_wait(0, 1);
  for (const std::uint64_t tag : {2U, 1U}) {
    builder.add_recv(1, 0, tag == 1 ? 1001 : 2001, tag, 0);
    builder.add_wait(1, 0);
  }
  const Program program = builder.finish();
  const Network network = plain_network();
  const LinkClass& k = network.inter;
  const Run run = run_one(program, network);
  const Picoseconds first = (2 * k.send) + (3 * k.latency) + k.stretch(2001) + k.receive;
  // the request of the other has long come when its receive is posted
  CHECK(run.ends[1] == first + (2 * k.latency) + k.stretch(1001) + k.receive);
  CHECK(run.inversions == 1);  // the sender waits for them in another order than they leave
  CHECK(run_b(program, network, {.ends = true}).ends[1] == run.ends[1]);
}

TEST_CASE("replay a: compute is scaled, and is all that a program without messages has") {
  ProgramBuilder builder(2, kPicosecond / 2);
  builder.add_calc(1, 7);
  builder.add_calc(1, 1'000'000);
  const Program program = builder.finish();
  const Run run = run_one(program, plain_network(), {.ends = true, .parts = true});
  CHECK(run.ends == std::vector<Picoseconds>{0, 500'003});
  CHECK(run.parts.compute == 500'003);
}

TEST_CASE("replay a: a deadlock names the ranks and what they wait for") {
  ProgramBuilder builder(2);
  for (std::uint32_t rank = 0; rank < 2; ++rank) {
    builder.add_recv(rank, 1 - rank, 8, 3, 0);
    builder.add_wait(rank, 0, 17);
    builder.add_send(rank, 1 - rank, 8, 3, 0);
  }
  const Program program = builder.finish();
  try {
    (void)run_one(program, plain_network());
    FAIL("the program ended");
  } catch (const Error& error) {
    CHECK(error.code() == "deadlock");
    CHECK(std::string(error.what())
              .find("rank 1 at its operation 1 (record 17): wait for the receive of 8 B from "
                    "rank 0 with tag 3") != std::string::npos);
  }
}

TEST_CASE("replay a: what only engine b models is refused") {
  ProgramBuilder builder(1);
  builder.add_send(0, 0, 8, 3, 0);
  builder.add_recv(0, kAnyPeer, 8, 3, 1);
  CHECK_THROWS_AS(run_one(builder.finish(), plain_network()), Error);
  Network network = plain_network();
  network.slow_start = {{"mss", 1448}};
  CHECK_THROWS_AS(run_one(make_schedule({.kind = "ring"}, kPicosecond), network), Error);
}

TEST_CASE("replay a: a run longer than 64 bits hold is refused") {
  Network network = plain_network();
  network.inter.byte_fp = 1LL << 50U;
  const Program program = make_schedule({.kind = "ring", .ranks = 2, .bytes = 1ULL << 40U}, kPicosecond);
  CHECK_THROWS_AS(run_one(program, network), Error);
}

}  // namespace
