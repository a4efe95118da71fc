#include <fstream>
#include <iterator>
#include <random>

#include "core/session/registry.hpp"
#include "replay/goal/goal.hpp"
#include "replay/lower/lower.hpp"
#include "replay/program/builder.hpp"
#include "replay/run/run.hpp"
#include "replay/targets/target.hpp"
#include "tests/catch.hpp"
#include "tests/replay/programs.hpp"
#include "tests/replay/traces.hpp"

namespace wulf::replay {
namespace {

using Catch::Contains;
using trace::Op;
using trace::Record;

constexpr std::int64_t kUnscaled = ProgramBuilder::kUnscaled;

/// 1 ns a byte: no reduction ends within a nanosecond.
const Json kWholeNanoseconds{{"reduction", 1e-9}};

Loaded lowered(const std::vector<std::vector<Record>>& ranks, const Json& collectives = kWholeNanoseconds) {
  const TraceFolder folder;
  folder.write_all(ranks);
  return lower_trace(folder.path(), collectives, kUnscaled);
}

Loaded of(Program program) {
  Loaded loaded;
  loaded.program = std::move(program);
  return loaded;
}

std::string contents(const std::string& path) {
  std::ifstream file(path);
  REQUIRE(file);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string goal_of(const Loaded& loaded) {
  const TraceFolder folder;
  Registry<Target>::at("goal", "target").write(loaded, folder.path() + "/x.goal");
  return contents(folder.path() + "/x.goal");
}

/// What the file of a rank says.
std::string actions_of(const Loaded& loaded, int rank) {
  const TraceFolder folder;
  Registry<Target>::at("simgrid", "target").write(loaded, folder.path());
  return contents(folder.path() + "/rank-00000" + std::to_string(rank) + ".txt");
}

/// The lines of the only rank of a GOAL text that has any.
std::string only_rank(const std::string& text) {
  const std::size_t begin = text.find("rank 0 {\n") + 9;
  return text.substr(begin, text.find('}') - begin);
}

/// The program that a GOAL text has, read anew.
Loaded again(const Loaded& loaded) { return read_goal(goal_of(loaded), "x.goal", kUnscaled); }

Record split(std::int32_t number, const std::vector<std::int32_t>& members) {
  Record record = called(Op::Comm_split, 300);
  record.newcomm = number;
  record.members = members;
  return record;
}

Record on(std::int32_t comm, Record record) {
  record.comm = comm;
  return record;
}

/// Six ranks: messages, all kinds of collectives on the world, on halves of it and on a copy, and requests.
std::vector<std::vector<Record>> everything() {
  constexpr int kRanks = 6;
  std::vector<std::vector<Record>> ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    std::vector<std::int32_t> half;
    for (int each = rank % 2; each < kRanks; each += 2) {
      half.push_back(each);
    }
    const std::vector<std::uint64_t> counts{8, 16, 24, 32, 4000, 48};
    Record vector = collective(Op::Allgatherv, counts[static_cast<std::size_t>(rank)]);
    vector.counts = counts;
    Record exchange = message(Op::Sendrecv, (rank + 1) % kRanks, 3, 5000);
    exchange.peer2 = exchange.source = (rank + kRanks - 1) % kRanks;
    exchange.tag2 = exchange.source_tag = 3;
    exchange.bytes2 = 5000;
    Record all = collective(Op::Alltoall, 700);
    all.bytes2 = 700;
    Record gathered = collective(Op::Gather, 90, 2);
    gathered.bytes2 = rank == 2 ? 90 : 0;
    std::vector<Record> records{split(2, half),
                                exchange,
                                called(Op::Barrier, 1000 + static_cast<std::uint64_t>(100 * rank)),
                                on(2, collective(Op::Allreduce, 16)),
                                on(2, collective(Op::Bcast, 70'000, rank % 2)),
                                collective(Op::Allreduce, 100'000),
                                collective(Op::Bcast, 400'000, 1),
                                collective(Op::Reduce, 48, 3),
                                all,
                                vector,
                                gathered,
                                collective(Op::Scan, 8),
                                message(Op::Irecv, (rank + 5) % kRanks, 9, 60, 0),
                                message(Op::Isend, (rank + 1) % kRanks, 9, 60, 1),
                                completed(Op::Waitall, {done(0), done(1)}),
                                on(2, called(Op::Barrier, 20)),
                                called(Op::finalize, 500)};
    ranks.push_back(std::move(records));
  }
  return ranks;
}

TEST_CASE(
    "replay targets: a trace's collectives and messages take the same time, written as GOAL and read again") {
  const Loaded loaded = lowered(everything(), {{"reduction", 1e-9},
                                               {"bcast", "scatter-allgather"},
                                               {"allreduce", "ring"},
                                               {"reduce", "rabenseifner"}});
  const Loaded read = again(loaded);
  REQUIRE(read.program.graph.empty());
  CHECK(read.program.messages.count() == loaded.program.messages.count());
  CHECK(read.program.total_bytes() == loaded.program.total_bytes());
  CHECK(read.program.compute_seconds() == loaded.program.compute_seconds());
  std::mt19937_64 random(20);  // NOLINT(cert-msc32-c,cert-msc51-cpp) - the same networks each time
  const RunOptions options{.ends = true, .parts = true};
  for (int i = 0; i < 20; ++i) {
    Network network = replay_test::random_network(random, loaded.program.ranks());
    network.inter.eager_bytes = i % 2 == 0 ? UINT64_MAX : 4096;
    const Run a = run_a(loaded.program, {&network, 1}, options)[0];
    CHECK(a.time > 0);
    CHECK(run_a(read.program, {&network, 1}, options)[0].ends == a.ends);
    const Run b = run_b(loaded.program, network, options);
    const Run same = run_b(read.program, network, options);
    CHECK(same.ends == b.ends);
    CHECK(same.parts.overhead == b.parts.overhead);
  }
}

TEST_CASE("replay targets: what is waited for in part is a graph that ends, with the same messages") {
  std::mt19937_64 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp) - the same programs each time
  for (int i = 0; i < 30; ++i) {
    const Loaded loaded = of(replay_test::random_program(random, {}));
    const Loaded read = again(loaded);
    CHECK(read.program.messages.count() == loaded.program.messages.count());
    CHECK(read.program.total_bytes() == loaded.program.total_bytes());
    const Network network = replay_test::random_network(random, loaded.program.ranks());
    CHECK_NOTHROW(run_b(read.program, network, {}));
  }
}

TEST_CASE("replay targets: where receives are posted ahead a rank is a graph, as fast if CPUs take no time") {
  const Loaded loaded = lowered(everything(), {{"reduction", 1e-9}, {"bcast", "chain:8192"}});
  const Loaded read = again(loaded);
  CHECK_FALSE(read.program.graph.empty());
  CHECK(read.program.total_bytes() == loaded.program.total_bytes());
  Network network;
  network.inter.latency = 1'000'000;
  network.inter.byte_fp = std::int64_t{100} << kFractionBits;
  for (std::uint32_t rank = 0; rank < loaded.program.ranks(); ++rank) {
    network.hosts.push_back(rank);
  }
  CHECK(run_b(read.program, network, {}).time == run_b(loaded.program, network, {}).time);
}

TEST_CASE(
    "replay targets: a GOAL operation begins after the one before, and ends before what waited for it") {
  ProgramBuilder builder(1);
  builder.add_recv(0, 0, 8, 7, 0);
  builder.add_send(0, 0, 8, 7, 1);
  builder.add_calc(0, 5'000);
  builder.add_send(0, 0, 9, 8, 2);
  builder.add_wait(0, 0);
  builder.add_recv(0, 0, 9, 8, 3);
  for (const std::uint32_t slot : {1U, 2U, 3U}) {
    builder.add_wait(0, slot);
  }
  builder.add_calc(0, 1'000);
  CHECK(only_rank(goal_of(of(builder.finish()))) ==
        "l1: recv 8b from 0 tag 7\n"
        "l2: send 8b to 0 tag 7\nl2 irequires l1\n"
        "l3: calc 5\nl3 irequires l2\n"
        "l4: send 9b to 0 tag 8\nl4 irequires l3\n"
        "l5: recv 9b from 0 tag 8\nl5 requires l1\nl5 irequires l4\n"
        "l6: calc 1\nl6 requires l1\nl6 requires l2\nl6 requires l3\nl6 requires l4\nl6 requires l5\n");
}

TEST_CASE("replay targets: a receive is posted once the computing before it has ended") {
  ProgramBuilder builder(1);
  builder.add_send(0, 0, 8, 7, 0);
  builder.add_calc(0, 5'000);
  builder.add_recv(0, 0, 8, 7, 1);
  CHECK_THAT(goal_of(of(builder.finish())), Contains("l3: recv 8b from 0 tag 7\nl3 requires l2\n"));
}

TEST_CASE("replay targets: computing below a nanosecond is not lost, but computed with what follows") {
  ProgramBuilder builder(1);
  builder.add_calc(0, 700);
  builder.add_calc(0, 1'700);
  builder.add_calc(0, 100);
  builder.add_calc(0, 600);
  const Loaded loaded = of(builder.finish());
  CHECK(only_rank(goal_of(loaded)) == "l1: calc 2\nl2: calc 1\nl2 requires l1\n");
  CHECK(actions_of(loaded, 0) == "0 init\n0 compute 2\n0 compute 1\n0 finalize\n");
}

TEST_CASE("replay targets: a small tag stays what it is, and others are the same number on all ranks") {
  ProgramBuilder builder(2);
  const std::vector<std::uint64_t> tags{5, (1U << 24U) - 1, 1U << 24U, 1ULL << 63U, (2ULL << 32U) + 5};
  for (std::uint32_t i = 0; i < tags.size(); ++i) {
    builder.add_send(0, 1, 8, tags[i], i);
    builder.add_recv(1, 0, 8, tags[i], i);
  }
  const std::string text = goal_of(of(builder.finish()));
  for (const int tag : {5, 16777215, 16777216, 16777217, 16777218}) {
    CHECK_THAT(text, Contains("send 8b to 1 tag " + std::to_string(tag) + "\n"));
    CHECK_THAT(text, Contains("recv 8b from 0 tag " + std::to_string(tag) + "\n"));
  }
}

TEST_CASE("replay targets: a receive from anybody stays one in GOAL, and is left out of SimGrid's actions") {
  ProgramBuilder builder(2);
  builder.add_recv(0, kAnyPeer, 8, kAnyTag, 0);
  builder.add_recv(0, 1, 8, 4, 1);
  builder.add_wait(0, 1);
  builder.add_wait(0, 0);
  builder.add_send(1, 0, 8, 3, 0);
  builder.add_send(1, 0, 8, 4, 1);
  const Loaded loaded = of(builder.finish());
  CHECK(only_rank(goal_of(loaded)) ==
        "l1: recv 0b from -1 tag -1\nl2: recv 0b from 1 tag 4\nl2 irequires l1\n");
  CHECK(again(loaded).program.live.count() == 2);
  CHECK(actions_of(loaded, 0) == "0 init\n0 finalize\n");
  CHECK(actions_of(loaded, 1) == "1 init\n1 isend 0 3 8\n1 isend 0 4 8\n1 finalize\n");
}

TEST_CASE("replay targets: collectives of the world may stay calls, which SimGrid has and GOAL has not") {
  const Json calls{{"world", "calls"}};
  Record waits = collective(Op::Iallreduce, 64);
  waits.request = 3;
  std::vector<std::vector<Record>> ranks;
  for (int rank = 0; rank < 2; ++rank) {
    Record gathered = collective(Op::Gather, 8, 1);
    gathered.bytes2 = 8;
    ranks.push_back({waits, called(Op::Barrier, 110), gathered, collective(Op::Bcast, 5, 1),
                     collective(Op::Reduce, 6, 0), completed(Op::Wait, {done(3)}), collective(Op::Scan, 8),
                     split(2, {0, 1}), on(2, called(Op::Barrier)), called(Op::Barrier),
                     called(Op::finalize, 60)});
  }
  const Loaded loaded = lowered(ranks, calls);
  CHECK(loaded.kept.size() == 12);
  const std::string text = actions_of(loaded, 1);
  CHECK_THAT(text, Contains("1 init\n1 compute 100\n1 barrier\n1 gather 8 8 1\n1 bcast 5 1\n1 reduce 6 0 0\n"
                            "1 allreduce 64 0\n1 recv 0 16777216 8\n"));
  CHECK_THAT(text, Contains("\n1 barrier\n1 compute 50\n1 finalize\n"));
  CHECK_THROWS_WITH(goal_of(loaded), Contains("are calls"));
  CHECK(lowered(ranks).kept.empty());
  CHECK_THROWS_WITH(lowered(ranks, {{"world", "round"}}), Contains("known: calls, messages"));
}

TEST_CASE(
    "replay targets: a message that is waited for at once is sent or received by one action of SimGrid") {
  ProgramBuilder builder(2);
  builder.add_send(0, 1, 8, 3, 0);
  builder.add_wait(0, 0);
  builder.add_recv(1, 0, 8, 3, 0);
  builder.add_calc(1, 9'000);
  builder.add_wait(1, 0);
  const Loaded loaded = of(builder.finish());
  CHECK(actions_of(loaded, 0) == "0 init\n0 send 1 3 8\n0 finalize\n");
  CHECK(actions_of(loaded, 1) == "1 init\n1 irecv 0 3 8\n1 compute 9\n1 wait 0 1 3\n1 finalize\n");
}

TEST_CASE("replay targets: what can't be written says why") {
  const Loaded graph = read_goal("num_ranks 1\nrank 0 {\ncalc 1\ncalc 1 cpu 1\n}\n", "x.goal", kUnscaled);
  CHECK_THROWS_WITH(goal_of(graph), Contains("graph"));
  CHECK_THROWS_WITH(actions_of(graph, 0), Contains("graph"));
  const Loaded loaded = lowered({{called(Op::finalize, 100)}});
  const Target& goal = Registry<Target>::at("goal", "target");
  CHECK_THROWS_WITH(goal.write(loaded, "/dev/full"), Contains("No space left"));
  CHECK_THROWS_WITH(goal.write(loaded, "/nowhere/x.goal"), Contains("No such file"));
  CHECK_THROWS_WITH(Registry<Target>::at("simgrid", "target").write(loaded, "/nowhere"),
                    Contains("No such file"));
}

}  // namespace
}  // namespace wulf::replay
