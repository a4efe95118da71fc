#include <initializer_list>

#include "replay/goal/goal.hpp"
#include "replay/program/builder.hpp"
#include "replay/run/engine.hpp"
#include "tests/catch.hpp"
#include "tests/replay/traces.hpp"

namespace wulf::replay {
namespace {

using Catch::Contains;
using Texts = std::vector<std::string>;

Loaded read(const std::string& text) { return read_goal(text, "x.goal", ProgramBuilder::kUnscaled); }

/// Costs in round figures: a byte takes 1 ps, all else nothing but for what a test sets.
Network network(Picoseconds latency, Picoseconds overhead = 0, std::uint32_t ranks = 8) {
  Network found;
  found.inter.latency = latency;
  found.inter.send = overhead;
  found.inter.receive = overhead;
  found.intra = found.inter;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    found.hosts.push_back(rank);
  }
  return found;
}

Picoseconds timed(const Program& program, const Network& network) { return run_b(program, network, {}).time; }

TEST_CASE("a GOAL text becomes a program, and what needs no message comes before what does") {
  const Loaded loaded = read(R"(num_ranks 2
/* two ranks,
   one message each way */
rank 0 {
l1: recv 10b from 1 tag 5 cpu 0 nic 0
l2: calc 100
l3: send 20b to 1 tag 6
l2 requires l1
l4: calc 7 // beside them
l3 irequires l2
}
rank 1 { 
a: send 10b to 0 tag 5
b: recv 20b from 0 tag 6
b requires a
})");
  REQUIRE(told(loaded.program, 0) ==
          Texts{"recv from 1", "calc 7000", "wait 0", "calc 100000", "send 20 to 1", "wait 1"});
  REQUIRE(told(loaded.program, 1) == Texts{"send 10 to 0", "wait 0", "recv from 0", "wait 1"});
  REQUIRE(loaded.share == 1);
  REQUIRE(loaded.program.mark_of(0) == 5);
}

TEST_CASE("a dependency may name an operation that comes later") {
  const Loaded loaded = read(
      "num_ranks 2\nrank 0 {\na: calc 1\nb: recv 1b from 1\na requires b\n}\n"
      "rank 1 {\nc: send 1b to 0\n}\n");
  REQUIRE(told(loaded.program, 0) == Texts{"recv from 1", "wait 0", "calc 1000"});
}

TEST_CASE("a receive in GOAL may take whoever sends") {
  const Loaded loaded = read("num_ranks 2\nrank 0 {\nrecv 1b from -1 tag -1\n}\nrank 1 {\nsend 1b to 0\n}\n");
  REQUIRE(loaded.program.live.count() == 1);
}

TEST_CASE("a rank whose operations come one after the other is no graph, and needs no engine b") {
  const Loaded tree = read(
      "num_ranks 2\nrank 0 {\na: recv 1b from 1\nb: send 1b to 1\nb requires a\nc: send 1b to 1\n"
      "c requires a\nd: calc 5\nd requires b\nd requires c\nd requires a\n}\n"
      "rank 1 {\nsend 1b to 0\nrecv 1b from 0\nrecv 1b from 0\n}\n");
  CHECK(tree.program.graph.empty());
  CHECK(tree.notes.empty());
  const Loaded fork = read("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\nc: calc 1\nc requires a\n}\n");
  CHECK_FALSE(fork.program.graph.empty());
  REQUIRE(fork.notes.size() == 1);
  CHECK_THAT(fork.notes[0], Contains("engine b"));
}

TEST_CASE("a graph is replayed as a graph: two rings go round at the same time") {
  std::string text = "num_ranks 4\n";
  for (int rank = 0; rank < 4; ++rank) {
    const std::string right = std::to_string((rank + 1) % 4);
    const std::string left = std::to_string((rank + 3) % 4);
    // each way the messages go on once the one before has come; rank 0 begins both
    text.append("rank ").append(std::to_string(rank)).append(" {\n");
    text.append("r1: recv 1b from ").append(left).append(" tag 1\n");
    text.append("s1: send 1b to ").append(right).append(" tag 1\n");
    text.append("r2: recv 1b from ").append(right).append(" tag 2\n");
    text.append("s2: send 1b to ").append(left).append(" tag 2\n");
    text += rank == 0 ? "r1 requires s1\nr2 requires s2\n" : "s1 requires r1\ns2 requires r2\n";
    text += "}\n";
  }
  const Loaded loaded = read(text);
  REQUIRE_FALSE(loaded.program.graph.empty());
  CHECK(loaded.share == 1);
  const Network slow = network(1000);
  CHECK(timed(loaded.program, slow) == 4000);
  // in the one order of the file, ranks 1 and 3 pass on one ring's message after the other's
  CHECK(run_a(loaded.program, {&slow, 1}, {})[0].time > 4000);
}

TEST_CASE("a graph's CPU serves what is ready in the order of time, overheads too") {
  // the message is there at 110 + 1000 + 0 ps, amid the second of three calculations of 1 ns each
  const Loaded loaded = read(
      "num_ranks 2\nrank 0 {\na: calc 1\nb: calc 1\nb requires a\nc: calc 1\nc requires b\n"
      "r: recv 1b from 1\ns: send 1b to 1\ns requires r\n}\n"
      "rank 1 {\nx: send 1b to 0\ny: recv 1b from 0\n}\n");
  const Network slow = network(1000, 110);
  const Run run = run_b(loaded.program, slow, {.ends = true, .parts = true});
  // a, b, the receive (110), then c and the send: c was ready first
  CHECK(run.ends[0] == 1000 + 1000 + 110 + 1000 + 110);
  CHECK(run.ends[1] == run.ends[0] + 1000 + 110);
  CHECK(run.parts.sum() == run.time);
}

TEST_CASE("a rank of a graph has several CPUs") {
  const Loaded loaded =
      read("num_ranks 1\nrank 0 {\ncalc 300\ncalc 100 cpu 1\ncalc 50 cpu 7\ncalc 50 cpu 7\n}\n");
  CHECK(loaded.share == 1);
  CHECK(loaded.left_out.empty());
  CHECK(timed(loaded.program, network(0)) == 300'000);
}

TEST_CASE("a graph's large messages wait for their receive, and hold up what needs their end alone") {
  const Loaded loaded = read(
      "num_ranks 2\nrank 0 {\ns: send 1000b to 1\na: calc 1\na irequires s\nb: calc 1\nb requires s\n}\n"
      "rank 1 {\nc: calc 5\nr: recv 1000b from 0\nr requires c\nd: calc 9 cpu 1\n}\n");
  Network slow = network(1000);
  slow.inter.eager_bytes = 10;
  slow.inter.byte_fp = 1LL << 20U;
  const Run run = run_b(loaded.program, slow, {.ends = true});
  // posted at 5000, the answer at 6000, 999 ps for its bytes; a long before
  CHECK(run.ends[0] == 5000 + 1000 + 999 + 1000);
  CHECK(run.ends[1] == 9000);
}

TEST_CASE("whoever sends is matched in a graph, too") {
  const Loaded loaded = read(
      "num_ranks 3\nrank 0 {\na: recv 1b from -1\nb: calc 7\nb requires a\nc: recv 1b from -1\nd: calc 100\n"
      "d requires c\n}\nrank 1 {\nw: calc 50\nx: send 1b to 0\nx requires w\n}\nrank 2 {\nsend 1b to 0\n}\n");
  // rank 2's comes first, and is the first receive's
  CHECK(timed(loaded.program, network(1000)) == 50'000 + 1000 + 100'000);
}

/// Two ranks' sequences take as long as they do as a graph, which another CPU of a third rank makes of them.
void check_as_a_graph(const std::string& ranks, std::initializer_list<std::uint64_t> eager_limits) {
  for (const std::uint64_t eager : eager_limits) {
    Network some = network(1234, 56);
    some.inter.byte_fp = 3LL << 20U;
    some.inter.gap = 40;
    some.inter.eager_bytes = eager;
    const Loaded alone = read("num_ranks 3\n" + ranks);
    const Loaded graph = read("num_ranks 3\n" + ranks + "rank 2 {\ncalc 1 cpu 1\n}\n");
    REQUIRE(alone.program.graph.empty());
    REQUIRE_FALSE(graph.program.graph.empty());
    CHECK(timed(alone.program, some) == timed(graph.program, some));
  }
}

TEST_CASE("a sequence takes as long as a graph as it does by itself") {
  const std::string ranks =
      "rank 0 {\na: calc 3\nb: send 2000b to 1\nc: recv 30b from 1\nb requires a\nc requires a\n"
      "d: send 7b to 1\nd requires b\nd requires c\n}\n"
      "rank 1 {\na: recv 2000b from 0\nb: calc 4\nb requires a\nc: send 30b to 0\nc requires b\n"
      "d: recv 7b from 0\nd requires c\n}\n";
  check_as_a_graph(ranks, {0, 50, 5000});
}

TEST_CASE("receives of a group are taken as they come, as in a graph") {
  const std::string ranks =
      "rank 0 {\na: recv 1b from 1\nb: recv 1b from 2\n}\nrank 1 {\na: calc 5\nb: send 1b to 0\nb requires "
      "a\n}\n"
      "rank 2 {\nsend 1b to 0\n}\n";
  const Network some = network(1000, 400);
  const Loaded alone = read("num_ranks 4\n" + ranks);
  const Loaded graph = read("num_ranks 4\n" + ranks + "rank 3 {\ncalc 1 cpu 1\n}\n");
  REQUIRE(alone.program.graph.empty());
  CHECK(timed(alone.program, some) == 5000 + 400 + 1000 + 400);
  CHECK(timed(graph.program, some) == timed(alone.program, some));
}

TEST_CASE("operations that begin one after the other go together, and take as long as in a graph") {
  const std::string ranks =
      "rank 0 {\na: recv 30b from 1\nb: send 2000b to 1\nb irequires a\nc: calc 3\nc irequires b\n"
      "d: send 7b to 1\nd requires a\nd requires b\nd requires c\n}\n"
      "rank 1 {\na: send 30b to 0\nb: recv 2000b from 0\nb irequires a\nc: calc 2\nc requires a\nc requires "
      "b\n"
      "d: recv 7b from 0\nd requires c\n}\n";
  check_as_a_graph(ranks, {50, 5000});
}

TEST_CASE("a graph that can't end is refused by engine b, with what is waited for") {
  const Loaded loaded = read(
      "num_ranks 2\nrank 0 {\na: recv 1b from 1\nb: send 1b to 1\nb requires a\ncalc 1 cpu 1\n}\n"
      "rank 1 {\na: recv 1b from 0\nb: send 1b to 0\nb requires a\n}\n");
  CHECK_THROWS_WITH(timed(loaded.program, network(0)), Contains("2 of 2") && Contains("from rank 1"));
}

TEST_CASE("what is wrong in a GOAL text is named by its line") {
  REQUIRE_THROWS_WITH(read("num_ranks 380360360\n"), Contains("380360360 ranks") && Contains("20 bytes"));
  REQUIRE_THROWS_WITH(read("ranks 2\n"), Contains("line 1") && Contains("num_ranks"));
  REQUIRE_THROWS_WITH(read("num_ranks 1\nrank 3 {\n}\n"), Contains("line 2") && Contains("0 to 0"));
  REQUIRE_THROWS_WITH(read("num_ranks 1\nrank 0 {\nput 3b\n}\n"), Contains("line 3") && Contains("'put'"));
  REQUIRE_THROWS_WITH(read("num_ranks 1\nrank 0 {\na: calc 1\na requires b\n}\n"), Contains("line 4"));
  REQUIRE_THROWS_WITH(read("num_ranks 1\nrank 0 {\na: calc 1\na: calc 2\n}\n"), Contains("'a' is taken"));
  REQUIRE_THROWS_WITH(read("num_ranks 1\nrank 0 {\ncalc 1\n"), Contains("ends within rank 0"));
  REQUIRE_THROWS_WITH(read("num_ranks 1\nrank 0 {\na: calc 1\nb: calc 1\na requires b\nb requires a\n}\n"),
                      Contains("circle"));
  REQUIRE_THROWS_WITH(read("num_ranks 2\nrank 0 {\nsend 1b to 1\n}\nrank 1 {\n}\n"), Contains("rank 0"));
}

}  // namespace
}  // namespace wulf::replay
