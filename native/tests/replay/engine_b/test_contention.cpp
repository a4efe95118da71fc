#include <algorithm>
#include <array>
#include <string>

#include "replay/program/builder.hpp"
#include "replay/program/first_messages.hpp"
#include "replay/program/joined.hpp"
#include "replay/run/run.hpp"
#include "tests/catch.hpp"
#include "tests/replay/programs.hpp"

namespace {

using namespace wulf;
using namespace wulf::replay;
using namespace wulf::replay_test;

constexpr Picoseconds kLatency = 1'500'000;
constexpr Picoseconds kSend = 300'000;
constexpr Picoseconds kReceive = 200'000;
constexpr Picoseconds kByte = 80;  // 12.5 GB/s
constexpr double kRate = 12.5e9;
constexpr std::uint64_t kBytes = 1'000'001;
constexpr std::uint32_t kDragonflyRanks = 72;
constexpr Picoseconds kStretch = 1'000'000 * kByte;

Network plain_network() {
  Network network;
  network.inter.latency = kLatency;
  network.inter.send = kSend;
  network.inter.receive = kReceive;
  network.inter.byte_fp = kByte << kFractionBits;
  network.intra = network.inter;
  return network;
}

Network star_network(double rate = kRate) {
  Network network = plain_network();
  network.topology = {{"kind", "star"}, {"bytes_per_second", rate}};
  return network;
}

void wait_for_data(Network& network) {
  network.inter.eager_bytes = 0;
  network.intra.eager_bytes = 0;
}

Picoseconds time_of(const Program& program, const Network& network) {
  return run_b(program, network, {}).time;
}

Program incast(std::uint32_t senders, std::uint64_t bytes) {
  ProgramBuilder builder(senders + 1);
  for (std::uint32_t r = 1; r <= senders; ++r) {
    builder.add_recv(0, r, bytes, 0, r);
    builder.add_send(r, 0, bytes, 0, 0);
    builder.add_wait(r, 0);
  }
  for (std::uint32_t r = 1; r <= senders; ++r) {
    builder.add_wait(0, r);
  }
  return builder.finish();
}

TEST_CASE("replay contention: 8 senders to 1 receiver share its link, eager or not") {
  const Program program = incast(8, kBytes);
  Network network = star_network();
  CHECK(time_of(program, network) == kSend + (8 * kStretch) + kLatency + (8 * kReceive));
  wait_for_data(network);
  CHECK(time_of(program, network) == kSend + (2 * kLatency) + (8 * kStretch) + kLatency + (8 * kReceive));
}

TEST_CASE(
    "replay contention: without the receiver's gap and without a topology, nothing holds an incast back") {
  Network network = plain_network();
  network.receiver_gap = false;
  CHECK(time_of(incast(8, kBytes), network) == kSend + kStretch + kLatency + (8 * kReceive));
  network.receiver_gap = true;  // its NIC takes one after another, while its CPU has done with those before
  CHECK(time_of(incast(8, kBytes), network) == kSend + (8 * kStretch) + kLatency + kReceive);
}

TEST_CASE("replay contention: large messages share NICs without a topology, too, eager or not") {
  const Program program = incast(8, kBytes);
  Network network = plain_network();
  const Picoseconds eager = kSend + (8 * kStretch) + kLatency + kReceive;
  CHECK(time_of(program, network) == eager);
  CHECK(run_a(program, {&network, 1}, {}).front().time == eager);
  wait_for_data(network);
  CHECK(time_of(program, network) == eager + (2 * kLatency));
  CHECK(run_a(program, {&network, 1}, {}).front().time == eager + (2 * kLatency));
}

TEST_CASE("replay contention: one sender's large messages leave one after another") {
  ProgramBuilder builder(9);
  for (std::uint32_t r = 1; r <= 8; ++r) {
    builder.add_send(0, r, kBytes, 0, r);
    builder.add_recv(r, 0, kBytes, 0, 0);
    builder.add_wait(r, 0);
  }
  for (std::uint32_t r = 1; r <= 8; ++r) {
    builder.add_wait(0, r);
  }
  const Program program = builder.finish();
  Network network = plain_network();
  network.inter.send = 0;
  wait_for_data(network);
  const Run ordered = run_b(program, network, {.ends = true});
  const Run waited = run_a(program, {&network, 1}, {.ends = true}).front();
  CHECK(waited.inversions == 7);  // engine a can't tell receivers of it, and says so
  CHECK(ordered.ends[0] == (2 * kLatency) + (8 * kStretch));
  CHECK(waited.ends[0] == ordered.ends[0]);
  for (std::uint32_t r = 1; r <= 8; ++r) {
    CHECK(ordered.ends[r] == (3 * kLatency) + (r * kStretch) + kReceive);
    CHECK(waited.ends[r] == (3 * kLatency) + kStretch + kReceive);
  }
  network.topology = {{"kind", "star"}, {"bytes_per_second", kRate}, {"shared_nic", true}};
  CHECK(time_of(program, network) == (3 * kLatency) + (8 * kStretch) + kReceive);
  CHECK(run_b(program, network, {.ends = true}).ends[1] == (3 * kLatency) + (8 * kStretch) + kReceive);
  network.topology["shared_nic"] = false;
  CHECK(run_b(program, network, {.ends = true}).ends == ordered.ends);
}

/// Both hosts of a router send to another group's, in a dragonfly of one cable between each two groups.
Program to_another_group() {
  ProgramBuilder builder(kDragonflyRanks);
  for (std::uint32_t r = 0; r < 2; ++r) {
    builder.add_send(r, 8 + r, kBytes, 0, 0);
    builder.add_wait(r, 0);
    builder.add_recv(8 + r, r, kBytes, 0, 0);
    builder.add_wait(8 + r, 0);
  }
  return builder.finish();
}

TEST_CASE("replay contention: adaptive ways go round a cable that is taken") {
  const Program program = to_another_group();
  const auto time = [&program](const char* routing) {
    Network network = plain_network();
    network.topology = {{"kind", "dragonfly"}, {"groups", 9},
                        {"routers", 4},        {"hosts", 2},
                        {"links", 2},          {"bytes_per_second", kRate},
                        {"routing", routing},  {"global_bytes_per_second", kRate / 4}};
    return time_of(program, network);
  };
  const Picoseconds alone = kSend + (4 * kStretch) + kLatency + kReceive;  // at the cable's rate
  CHECK(time("minimal") == alone + (4 * kStretch));
  CHECK(time("adaptive") == alone);
}

TEST_CASE("replay contention: jobs beside each other share what they share, and nothing else") {
  const Program first = incast(1, kBytes);
  const Program second = incast(2, kBytes);
  const std::array<const Program*, 2> jobs{&first, &second};
  const Program all = joined(jobs);
  REQUIRE(all.ranks() == 5);
  CHECK(all.total_bytes() == 3 * kBytes);
  Network network = star_network();
  const Run apart = run_b(all, network, {.ends = true});
  CHECK(apart.ends[0] == time_of(first, network));
  CHECK(apart.ends[2] == time_of(second, network));
  network.topology["backplane_bytes_per_second"] = kRate;  // of all of them together
  const Run crowded = run_b(all, network, {.ends = true});
  CHECK(crowded.ends[0] == kSend + (3 * kStretch) + kLatency + kReceive);
}

TEST_CASE("replay contention: each job's own connecting stays with its messages") {
  const Program first = incast(1, 100);
  Program second = incast(2, 100);
  CHECK(connect_first_messages(second, kLatency) == 2);
  const std::array<const Program*, 2> jobs{&first, &second};
  const Run run = run_b(joined(jobs), plain_network(), {.ends = true});
  CHECK(run.ends[0] == time_of(first, plain_network()));
  CHECK(run.ends[2] == time_of(second, plain_network()));
  CHECK(run.ends[2] > run.ends[0] + kLatency);
}

TEST_CASE("replay contention: a ring shares no link") {
  constexpr std::uint32_t kRanks = 7;
  ProgramBuilder builder(kRanks);
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    builder.add_recv(r, (r + kRanks - 1) % kRanks, kBytes, 0, 0);
    builder.add_send(r, (r + 1) % kRanks, kBytes, 0, 1);
    builder.add_wait(r, 0);
    builder.add_wait(r, 1);
  }
  CHECK(time_of(builder.finish(), star_network()) == kSend + kStretch + kLatency + kReceive);
}

TEST_CASE("replay contention: a binomial tree's longest way takes log2(p) messages, one after another") {
  constexpr std::uint32_t kRanks = 32;
  ProgramBuilder builder(kRanks);
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    std::uint32_t half = kRanks / 2;
    for (; half > 0 && r % (2 * half) != 0; half /= 2) {
      if (r % half == 0) {
        builder.add_recv(r, r - half, kBytes, 0, 0);
        builder.add_wait(r, 0);
      }
    }
    for (; half > 0; half /= 2) {
      builder.add_send(r, r + half, kBytes, 0, 0);
      builder.add_wait(r, 0);
    }
  }
  Network network = star_network();
  wait_for_data(network);
  CHECK(time_of(builder.finish(), network) == 5 * (kSend + (3 * kLatency) + kStretch + kReceive));
}

Program all_to_all(std::uint32_t ranks, std::uint64_t bytes) {
  ProgramBuilder builder(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (std::uint32_t step = 1; step < ranks; ++step) {
      builder.add_recv(r, (r + ranks - step) % ranks, bytes, 0, step);
    }
    for (std::uint32_t step = 1; step < ranks; ++step) {
      builder.add_send(r, (r + step) % ranks, bytes, 0, ranks + step);
    }
    for (std::uint32_t slot = 1; slot < ranks; ++slot) {
      builder.add_wait(r, slot);
      builder.add_wait(r, ranks + slot);
    }
  }
  return builder.finish();
}

TEST_CASE("replay contention: an all-to-all fills every link of a star all the time") {
  constexpr std::uint32_t kRanks = 9;
  Network network = star_network();
  wait_for_data(network);
  network.inter.send = 0;
  network.inter.receive = 0;
  CHECK(time_of(all_to_all(kRanks, kBytes), network) == (3 * kLatency) + ((kRanks - 1) * kStretch));
}

TEST_CASE("replay contention: ranks of one host share its link, and not what stays within") {
  Network network = star_network();
  network.hosts = {0, 1, 1, 0};
  ProgramBuilder builder(4);
  for (const auto& [from, to] : {std::pair{1U, 0U}, {2U, 3U}}) {
    builder.add_send(from, to, kBytes, 0, 0);
    builder.add_recv(to, from, kBytes, 0, 0);
    builder.add_wait(to, 0);
  }
  CHECK(time_of(builder.finish(), network) == kSend + (2 * kStretch) + kLatency + kReceive);
  ProgramBuilder within(4);
  within.add_send(1, 2, kBytes, 0, 0);
  within.add_recv(2, 1, kBytes, 0, 0);
  within.add_wait(2, 0);
  CHECK(time_of(within.finish(), star_network(1e6)) > 1'000'000'000'000);
  ProgramBuilder again(4);
  again.add_send(1, 2, kBytes, 0, 0);
  again.add_recv(2, 1, kBytes, 0, 0);
  again.add_wait(2, 0);
  network.topology["bytes_per_second"] = 1e6;
  CHECK(time_of(again.finish(), network) == kSend + kStretch + kLatency + kReceive);
}

TEST_CASE("replay contention: a slow host slows its own messages alone") {
  ProgramBuilder builder(4);
  for (const auto& [from, to] : {std::pair{0U, 1U}, {2U, 3U}}) {
    builder.add_send(from, to, kBytes, 0, 0);
    builder.add_recv(to, from, kBytes, 0, 0);
    builder.add_wait(to, 0);
  }
  Network network = star_network();
  network.topology["bytes_per_second"] = Json::array({kRate, kRate / 4, kRate, kRate});
  const Run run = run_b(builder.finish(), network, {.ends = true});
  CHECK(run.ends[1] == kSend + (4 * kStretch) + kLatency + kReceive);
  CHECK(run.ends[3] == kSend + kStretch + kLatency + kReceive);
}

TEST_CASE("replay contention: messages up to the limit are LogGOPS's alone") {
  const Network plain = plain_network();
  Network network = star_network(1e3);
  network.topology["flow_bytes"] = kBytes;
  CHECK(time_of(incast(8, kBytes), network) == time_of(incast(8, kBytes), plain));
  network.topology["flow_bytes"] = kBytes - 1;
  CHECK(time_of(incast(8, kBytes), network) > time_of(incast(8, kBytes), plain));
}

TEST_CASE("replay contention: links that nobody has to share change nothing, to the picosecond") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300; ++i) {
    const Program program = random_program(random, {.ranks = 5});
    Network network = random_network(random, 5);
    network.receiver_gap = false;
    // 1 TB/s at most: all together don't fill a link
    network.inter.byte_fp += 1LL << kFractionBits;
    network.inter.eager_more_fp = std::max<std::int64_t>(network.inter.eager_more_fp, 0);
    const auto alone = run_b(program, network, {.ends = true}).ends;
    network.topology = {{"kind", "star"}, {"bytes_per_second", 1e14}, {"flow_bytes", 0}};
    INFO("program " << i);
    CHECK(run_b(program, network, {.ends = true}).ends == alone);
  }
}

TEST_CASE("replay contention: an oversubscribed leaf's hosts share its way up") {
  ProgramBuilder builder(6);
  for (std::uint32_t r = 0; r < 3; ++r) {
    builder.add_send(r, 3 + r, kBytes, 0, 0);
    builder.add_recv(3 + r, r, kBytes, 0, 0);
    builder.add_wait(3 + r, 0);
  }
  Network network = plain_network();
  network.topology = {{"kind", "fat-tree"},
                      {"ports", 4},
                      {"levels", 2},
                      {"oversubscription", 3},
                      {"bytes_per_second", kRate}};
  CHECK(time_of(builder.finish(), network) == kSend + (3 * kStretch) + kLatency + kReceive);
}

TEST_CASE("replay contention: the time behind others counts as waiting") {
  const Run run = run_b(incast(4, kBytes), star_network(), {.parts = true});
  CHECK(run.parts.bytes == kStretch);
  CHECK(run.parts.waiting == 3 * kStretch);
  CHECK(run.parts.latency == kLatency);
  CHECK(run.parts.overhead == kSend + (4 * kReceive));
}

TEST_CASE("replay contention: a wrong topology is refused by name") {
  for (const auto& [text, field] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"kind": "star"})", "topology.bytes_per_second"},
           {R"({"kind": "star", "bytes_per_second": 0})", "topology.bytes_per_second"},
           {R"({"kind": "star", "bytes_per_second": [1e9]})", "topology"},
           {R"({"kind": "moon"})", "topology.kind"},
           {R"({"kind": "star", "bytes_per_second": 1, "flow_bytes": -1})", "flow_bytes"},
           {R"({"kind": "star", "bytes_per_second": 1, "speed": 1})", "speed"},
           {R"({"kind": "file", "path": "/nowhere"})", "topology.path"},
           {R"([])", "topology"}}) {
    Network network = plain_network();
    network.topology = Json::parse(text);
    INFO(text);
    try {
      (void)run_b(incast(2, 10), network, {});
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == "bad-parameter");
      CHECK(error.field() == field);
    }
  }
}

}  // namespace
