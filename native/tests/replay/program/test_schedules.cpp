#include <cstdint>
#include <string>

#include "core/json/error.hpp"
#include "replay/program/builder.hpp"
#include "replay/program/schedules.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::replay;

/// The same operations by a builder, which matches them itself; each message is its own slot.
Program rebuilt(const Program& program) {
  ProgramBuilder to(program.ranks());
  for (std::uint32_t rank = 0; rank < program.ranks(); ++rank) {
    for (std::uint32_t op = program.first[rank]; op < program.first[rank + 1]; ++op) {
      const std::uint32_t arg = program.arg[op];
      const Messages& messages = program.messages;
      switch (program.kind[op]) {
        case OpKind::kCalc:
          to.add_calc(rank, program.durations[arg]);
          break;
        case OpKind::kSend:
          CHECK(messages.from[arg] == rank);
          to.add_send(rank, messages.to[arg], program.bytes_of(arg), messages.tag[arg], arg);
          break;
        case OpKind::kRecv:
          CHECK(messages.to[arg] == rank);
          to.add_recv(rank, messages.from[arg], program.bytes_of(arg), messages.tag[arg], arg);
          break;
        default:
          to.add_wait(rank, arg);
      }
    }
  }
  return to.finish();
}

}  // namespace

TEST_CASE("replay schedules: what is written is what a builder matches") {
  const std::string kind =
      GENERATE("dissemination", "binary-tree", "linear-alltoall", "ring", "pingpong", "incast");
  const std::uint32_t ranks = GENERATE(as<std::uint32_t>{}, 2, 3, 4, 5, 8, 9, 33);
  const std::uint32_t rounds = GENERATE(as<std::uint32_t>{}, 1, 3);
  const Picoseconds compute = GENERATE(as<Picoseconds>{}, 0, 700);
  CAPTURE(kind, ranks, rounds, compute);
  const Program program =
      make_schedule({.kind = kind, .ranks = ranks, .bytes = 9, .rounds = rounds, .compute = compute},
                    ProgramBuilder::kUnscaled);
  const Program other = rebuilt(program);
  CHECK(program.first == other.first);
  CHECK(program.kind == other.kind);
  CHECK(program.arg == other.arg);
  CHECK(program.durations == other.durations);
  CHECK(program.sizes == other.sizes);
  CHECK(program.mark.empty());
  CHECK(program.messages.from == other.messages.from);
  CHECK(program.messages.to == other.messages.to);
  CHECK(program.messages.size == other.messages.size);
  CHECK(program.messages.tag == other.messages.tag);
  CHECK(program.messages.send_op == other.messages.send_op);
  CHECK(program.messages.recv_op == other.messages.recv_op);
}

TEST_CASE("replay schedules: computing is scaled") {
  const Program program =
      make_schedule({.kind = "ring", .ranks = 2, .compute = 700}, ProgramBuilder::kUnscaled / 2);
  CHECK(program.durations == decltype(program.durations){350, 350});
}

TEST_CASE("replay schedules: more operations than a program has room for are refused at once") {
  CHECK_THROWS_AS(make_schedule({.kind = "linear-alltoall", .ranks = 65536}, ProgramBuilder::kUnscaled),
                  Error);
  CHECK_THROWS_AS(
      make_schedule({.kind = "ring", .ranks = 65536, .rounds = INT32_MAX}, ProgramBuilder::kUnscaled), Error);
}
