#include <sstream>

#include "replay/builder.hpp"
#include "replay/goal.hpp"
#include "tests/catch.hpp"
#include "tests/replay_traces.hpp"

namespace wulf::replay {
namespace {

using Catch::Contains;
using Texts = std::vector<std::string>;

Loaded read(const std::string& text) {
  std::istringstream stream(text);
  return read_goal(stream, "x.goal", ProgramBuilder::kUnscaled);
}

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

TEST_CASE("work for a second CPU is counted as left out") {
  const Loaded loaded = read("num_ranks 1\nrank 0 {\ncalc 300\ncalc 100 cpu 1\n}\n");
  REQUIRE(loaded.share == Approx(0.75));
  REQUIRE(loaded.left_out.size() == 1);
  REQUIRE_THAT(loaded.left_out[0].why, Contains("line 4"));
}

TEST_CASE("what is wrong in a GOAL text is named by its line") {
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
