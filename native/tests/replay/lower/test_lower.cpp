#include <array>
#include <filesystem>
#include <fstream>

#include "replay/lower/lower.hpp"
#include "replay/program/builder.hpp"
#include "replay/run/run.hpp"
#include "tests/catch.hpp"
#include "tests/replay/traces.hpp"

namespace wulf::replay {
namespace {

using Catch::Contains;
using trace::Op;
using trace::Record;
using Texts = std::vector<std::string>;

constexpr std::int64_t kUnscaled = ProgramBuilder::kUnscaled;

Loaded lowered(const std::vector<std::vector<Record>>& ranks, const Json& collectives = Json::object()) {
  const TraceFolder folder;
  folder.write_all(ranks);
  return lower_trace(folder.path(), collectives, kUnscaled);
}

Record with_times(Record record, std::uint64_t gap_ns, std::uint64_t call_ns) {
  record.gap_ns = gap_ns;
  record.call_ns = call_ns;
  return record;
}

TEST_CASE("computing between calls is kept, less the tracer's cost; time in calls is not") {
  const Loaded loaded = lowered({{with_times(message(Op::Send, 1, 5, 8), 100, 700), called(Op::finalize, 50)},
                                 {with_times(message(Op::Recv, 0, 5, 8), 20, 900), called(Op::finalize)}});
  REQUIRE(told(loaded.program, 0) == Texts{"calc 100000", "send 8 to 1", "wait 0", "calc 40000"});
  REQUIRE(told(loaded.program, 1) == Texts{"calc 20000", "recv from 0", "wait 0"});
  REQUIRE(loaded.share == 1);
  REQUIRE(loaded.left_out.empty());
  REQUIRE(loaded.program.mark_of(1) == 1);
}

TEST_CASE("requests complete in the order in which the trace says they did") {
  const Loaded loaded = lowered({{message(Op::Irecv, 1, 1, 8, 0), message(Op::Irecv, 1, 2, 8, 1),
                                  completed(Op::Waitany, {done(1)}), completed(Op::Test, {done(0)})},
                                 {message(Op::Isend, 0, 1, 8, 0), message(Op::Isend, 0, 2, 8, 1),
                                  completed(Op::Waitall, {done(0), done(1)})}});
  REQUIRE(told(loaded.program, 0) == Texts{"recv from 1", "recv from 1", "wait 1", "wait 0"});
}

TEST_CASE("a wildcard is a receive from the rank whose message came") {
  trace::Completion from_two = done(0);
  from_two.wildcard = true;
  from_two.source = 2;
  from_two.tag = 7;
  Record blocking = message(Op::Recv, trace::any, trace::any, 8);
  blocking.source = 1;
  blocking.source_tag = 3;
  const Loaded loaded =
      lowered({{message(Op::Irecv, trace::any, trace::any, 8, 0), blocking, completed(Op::Wait, {from_two})},
               {message(Op::Send, 0, 3, 8)},
               {message(Op::Send, 0, 7, 8)}});
  REQUIRE(told(loaded.program, 0) == Texts{"recv from 2", "recv from 1", "wait 1", "wait 0"});
}

TEST_CASE("a wildcard of which nothing is told stays one, with the tag and the rank that it was posted for") {
  Record exchange = message(Op::Sendrecv, 1, 4, 16);
  exchange.peer2 = trace::any;
  exchange.tag2 = 5;
  exchange.source = exchange.source_tag = trace::any;
  Record blocking = message(Op::Recv, 1, trace::any, 8);
  blocking.source = blocking.source_tag = trace::any;
  const Loaded loaded =
      lowered({{message(Op::Irecv, trace::any, 7, 8, 0), completed(Op::Wait, {done(0)}), exchange, blocking},
               {message(Op::Send, 0, 7, 8), message(Op::Send, 0, 5, 8), message(Op::Recv, 0, 4, 16),
                message(Op::Send, 0, 9, 8)}});
  const LiveReceives& live = loaded.program.live;
  REQUIRE(live.count() == 3);
  REQUIRE(live.peer == Array<std::uint32_t>{kAnyPeer, kAnyPeer, 1});
  REQUIRE(live.tag == Array<std::uint64_t>{7, 5, kAnyTag});
  REQUIRE(loaded.notes.front().find("by engine b alone") != std::string::npos);
}

TEST_CASE("persistent requests post at each start; a cancelled one never") {
  Record start = called(Op::Startall);
  start.requests = {0};
  trace::Completion cancelled = done(1);
  cancelled.cancelled = true;
  const Loaded loaded = lowered(
      {{message(Op::Recv_init, 1, 4, 8, 0), start, completed(Op::Wait, {done(0)}), start,
        completed(Op::Wait, {done(0)}), message(Op::Irecv, 1, 9, 8, 1), completed(Op::Wait, {cancelled})},
       {message(Op::Send, 0, 4, 8), message(Op::Send, 0, 4, 8)}});
  REQUIRE(told(loaded.program, 0) == Texts{"recv from 1", "wait 0", "recv from 1", "wait 1"});
  REQUIRE(loaded.left_out.size() == 1);
}

TEST_CASE("nobody takes no message, an exchange posts both, and a buffered send is waited for at the end") {
  Record exchange = message(Op::Sendrecv, 1, 1, 16);
  exchange.peer2 = exchange.source = trace::nobody;
  exchange.tag2 = exchange.source_tag = 0;
  Record back = message(Op::Sendrecv, trace::nobody, 0, 4);
  back.peer2 = back.source = 0;
  back.tag2 = back.source_tag = 1;
  const Loaded loaded =
      lowered({{message(Op::Bsend, 1, 2, 32), exchange, message(Op::Recv, trace::nobody, 0, 8)},
               {message(Op::Recv, 0, 2, 32), back}});
  REQUIRE(told(loaded.program, 0) == Texts{"send 32 to 1", "send 16 to 1", "wait 1", "wait 0"});
  REQUIRE(told(loaded.program, 1) == Texts{"recv from 0", "wait 0", "recv from 0", "wait 1"});
}

TEST_CASE("a synchronous send waits for an answer of its receiver, others of the same tag don't") {
  const Loaded loaded = lowered({{message(Op::Send, 1, 5, 8), message(Op::Ssend, 1, 5, 8)},
                                 {message(Op::Recv, 0, 5, 8), message(Op::Recv, 0, 5, 8)}});
  REQUIRE(told(loaded.program, 0) ==
          Texts{"send 8 to 1", "wait 0", "send 8 to 1", "recv from 1", "wait 1", "wait 2"});
  REQUIRE(told(loaded.program, 1) ==
          Texts{"recv from 0", "wait 0", "recv from 0", "wait 1", "send 0 to 0", "wait 2"});
}

/// The rank's end on a network without overheads, 1 µs away, 2 ps a byte, that sends 100 B eagerly.
Picoseconds end_of(const Program& program, std::uint32_t rank, std::uint64_t eager = 100) {
  std::array<Network, 1> networks{};
  networks[0].inter.latency = 1'000'000;
  networks[0].inter.byte_fp = std::int64_t{2} << kFractionBits;
  networks[0].inter.eager_bytes = eager;
  RunOptions options;
  options.ends = true;
  return run_a(program, networks, options)[0].ends[rank];
}

TEST_CASE("a synchronous send above the eager limit takes a rendezvous' time, and no answer's beside") {
  const std::vector<std::vector<Record>> ranks{{message(Op::Ssend, 1, 5, 1001)},
                                               {message(Op::Recv, 0, 5, 1001)}};
  const Loaded asks = lowered(ranks, {{"eager", 100}});
  REQUIRE(told(asks.program, 0) ==
          Texts{"send 0 to 1", "send 1001 to 1", "recv from 1", "wait 0", "wait 2", "wait 1"});
  REQUIRE(told(asks.program, 1) ==
          Texts{"recv from 0", "recv from 0", "wait 1", "send 0 to 0", "wait 2", "wait 0"});
  CHECK(end_of(asks.program, 0) == 2'000'000 + 2000);  // to and fro, then the bytes
  CHECK(end_of(asks.program, 1) == 3'000'000 + 2000);
  // where the network sends it eagerly, the sender still hears of the receive
  CHECK(end_of(asks.program, 0, 5000) == 2'000'000);
  CHECK(end_of(asks.program, 1, 5000) == 1'000'000 + 2000);
  // what the question is for: an answer behind the message goes the way to and fro once more
  CHECK(end_of(lowered(ranks).program, 0) == 4'000'000 + 2000);
  REQUIRE_THROWS_WITH(lowered(ranks, {{"eager", "much"}}), Contains("must be bytes"));
}

TEST_CASE("a synchronous send to a late receive waits for it") {
  for (const bool posted : {false, true}) {
    const std::vector<Record> late =
        posted ? std::vector<Record>{with_times(message(Op::Irecv, 0, 5, 1001, 0), 9000, 0),
                                     completed(Op::Wait, {done(0)})}
               : std::vector<Record>{with_times(message(Op::Recv, 0, 5, 1001), 9000, 0)};
    const Loaded loaded = lowered({{message(Op::Ssend, 1, 5, 1001)}, late}, {{"eager", 100}});
    CHECK(end_of(loaded.program, 0) == 9'000'000 + 1'000'000 + 2000);
    CHECK(end_of(loaded.program, 1) == 9'000'000 + 2'000'000 + 2000);
  }
}

TEST_CASE("empty blocks of an exchange are no messages where their receiver knows of them") {
  const auto exchange = [](std::vector<std::uint64_t> gives, std::vector<std::uint64_t> gets) {
    Record record = collective(Op::Alltoallv, 0);
    record.counts = std::move(gives);
    record.counts2 = std::move(gets);
    return record;
  };
  const Json linear{{"alltoallv", "linear"}};
  const Loaded known = lowered(
      {{exchange({1, 0, 5}, {1, 7, 0})}, {exchange({7, 0, 0}, {0, 0, 0})}, {exchange({0, 0, 0}, {5, 0, 0})}},
      linear);
  CHECK(known.program.messages.count() == 2);
  CHECK(known.program.total_bytes() == 12);
  REQUIRE(told(known.program, 1) == Texts{"send 7 to 0", "wait 0"});
  const Loaded unknown =
      lowered({{exchange({1, 0, 5}, {})}, {exchange({7, 0, 0}, {})}, {exchange({0, 0, 0}, {})}}, linear);
  CHECK(unknown.program.messages.count() == 6);
  CHECK(unknown.program.total_bytes() == 12);
  REQUIRE_THROWS_WITH(lowered({{exchange({1, 0, 5}, {1})}, {}, {}}), Contains("it has 1 counts"));
}

TEST_CASE("a copy of a communicator that is made in passing has its neighbours") {
  Record grid = called(Op::Dist_graph_create_adjacent);
  grid.comm = trace::world;
  grid.newcomm = 2;
  grid.members = {0, 1};
  Record near = called(Op::neighbours);
  near.comm = 2;
  Record copy = called(Op::Comm_idup);
  copy.comm = 2;
  copy.newcomm = 3;
  copy.members = {0, 1};
  copy.request = 0;
  Record gather = collective(Op::Neighbor_allgather, 8);
  gather.comm = 3;
  gather.bytes2 = 8;
  std::vector<std::vector<Record>> ranks;
  for (const std::int32_t other : {1, 0}) {
    near.members = near.members2 = {other};
    ranks.push_back({grid, near, copy, completed(Op::Wait, {done(0)}), gather});
  }
  const Loaded loaded = lowered(ranks);
  CHECK(loaded.program.total_bytes() ==
        (2 * 8) + (2 * 4));  // and the numbers that the grid's makers agree on
}

TEST_CASE("a receive of any tag from nobody is none that nothing came for") {
  const Loaded loaded =
      lowered({{message(Op::Irecv, trace::nobody, trace::any, 8, 0), completed(Op::Wait, {done(0)})}});
  CHECK(loaded.left_out.empty());
}

TEST_CASE("a start of what no recorded call made is a hole, and changes no other request's message") {
  Record start = called(Op::Startall);
  start.requests = {trace::none, 0};
  trace::Completion from_one = done(0);
  from_one.wildcard = true;
  from_one.source = 1;
  from_one.tag = 7;
  const Loaded loaded = lowered({{message(Op::Recv_init, trace::any, 7, 8, 0), start,
                                  completed(Op::Waitall, {done(trace::none), from_one})},
                                 {message(Op::Send, 0, 7, 8)}});
  REQUIRE(told(loaded.program, 0) == Texts{"recv from 1", "wait 0"});
  REQUIRE(loaded.left_out.size() == 1);
  CHECK(loaded.left_out[0].what == "persistent requests of calls that are not recorded");
}

TEST_CASE("a cancelled send is not counted among those of which one is synchronous") {
  trace::Completion cancelled = done(0);
  cancelled.cancelled = true;
  const Loaded loaded = lowered({{message(Op::Send, 1, 5, 8), message(Op::Issend, 1, 5, 9, 0),
                                  completed(Op::Wait, {cancelled}), message(Op::Ssend, 1, 5, 10)},
                                 {message(Op::Recv, 0, 5, 8), message(Op::Recv, 0, 5, 10)}});
  REQUIRE(told(loaded.program, 1) ==
          Texts{"recv from 0", "wait 0", "recv from 0", "wait 1", "send 0 to 0", "wait 2"});
  CHECK(loaded.program.total_bytes() == 18);
}

TEST_CASE("a rank sends to itself") {
  const Loaded loaded =
      lowered({{message(Op::Irecv, 0, 1, 8, 0), message(Op::Send, 0, 1, 8), completed(Op::Wait, {done(0)})}});
  REQUIRE(told(loaded.program, 0) == Texts{"recv from 0", "send 8 to 0", "wait 0", "wait 0"});
}

TEST_CASE("polls are waiting, unless something is computed between them") {
  Record spun = called(Op::tests, 5000, 3000);
  spun.count = 100;
  spun.between_ns = 2000;
  Record computed = called(Op::tests, 0, 3000);
  computed.count = 3;
  computed.between_ns = 20020;
  const Loaded loaded = lowered({{spun, computed, called(Op::finalize)}});
  // the gap before each, and of the second one what lies between, less the tracer's cost
  REQUIRE(told(loaded.program, 0) == Texts{"calc 25000000"});
  REQUIRE_THAT(loaded.notes.front() + loaded.notes.back(), Contains("103 tests and probes found nothing"));
}

TEST_CASE("times that are beyond any run are damage") {
  const Record fine = called(Op::finalize, 1'000'000'000'000'000, 0);  // 11 days
  CHECK(lowered({{fine}}).program.compute_seconds() > 0);
  for (const std::uint64_t ns : {std::uint64_t{1} << 63U, UINT64_MAX}) {
    Record polls = called(Op::tests, 0, 0);
    polls.count = 2;
    polls.between_ns = ns;
    for (const Record& record : {called(Op::finalize, ns, 0), called(Op::finalize, 0, ns), polls}) {
      REQUIRE_THROWS_WITH(lowered({{fine, record}}), Contains("rank 0, record 2") && Contains("53 days"));
    }
  }
}

Record creation(Op op, std::int32_t parent, std::int32_t number, const std::vector<std::int32_t>& members) {
  Record record = called(op);
  record.comm = parent;
  record.newcomm = number;
  record.members = members;
  return record;
}

Record on(std::int32_t comm, Record record) {
  record.comm = comm;
  return record;
}

TEST_CASE("a communicator's number may be any, and costs no more for being large") {
  constexpr std::int32_t kLargest = INT32_MAX;
  const Record copy = creation(Op::Comm_create_group, 0, kLargest, {0, 1});
  const Loaded loaded = lowered(
      {{copy, on(kLargest, message(Op::Send, 1, 1, 8))}, {copy, on(kLargest, message(Op::Recv, 0, 1, 8))}});
  CHECK(told(loaded.program, 0).back() ==
        told(lowered({{copy, message(Op::Send, 1, 1, 8)}, {copy, message(Op::Recv, 0, 1, 8)}}).program, 0)
            .back());
  REQUIRE_THROWS_WITH(lowered({{copy, on(kLargest - 1, message(Op::Send, 1, 1, 8))}, {copy}}),
                      Contains("communicator 2147483646 is used before a record makes it"));
}

TEST_CASE("what agrees on a communicator is one of its ranks") {
  for (const Op op : {Op::Comm_dup, Op::Comm_create_group}) {
    const Record first = creation(Op::Comm_create_group, 0, 2, {});
    const Record second = creation(op, 2, 3, {});
    REQUIRE_THROWS_WITH(lowered({{first, second}}), Contains("is no member of its communicator"));
  }
}

TEST_CASE("communicators are the same by parent and members, whatever ranks number them") {
  const Record left = creation(Op::Comm_create_group, 0, 2, {1, 2});
  const Loaded loaded =
      lowered({{creation(Op::Comm_create_group, 0, 2, {0, 2}), on(2, message(Op::Send, 2, 1, 8)),
                on(2, collective(Op::Bcast, 64, 2))},
               {left, on(2, collective(Op::Bcast, 32, 1))},
               {left, creation(Op::Comm_create_group, 0, 3, {0, 2}), on(2, collective(Op::Bcast, 32, 1)),
                on(3, message(Op::Recv, 0, 1, 8)), on(3, collective(Op::Bcast, 64, 2))}});
  const Texts second = told(loaded.program, 1);
  REQUIRE(second[second.size() - 2] == "send 32 to 2");
  const Texts first = told(loaded.program, 0);
  REQUIRE(first[first.size() - 2] == "recv from 2");
}

TEST_CASE("a receive takes no message of another communicator") {
  const Record copy = creation(Op::Comm_dup, 0, 2, {0, 1});
  REQUIRE_THROWS_WITH(
      lowered({{copy, message(Op::Send, 1, 1, 8)}, {copy, on(2, message(Op::Recv, 0, 1, 8))}}),
      Contains("rank 0") && Contains("rank 1"));
}

TEST_CASE("collectives with processes outside of the trace are kept as they were recorded") {
  const Record merged = creation(Op::Intercomm_merge, 0, 2, {0, 1, trace::elsewhere});
  const std::vector<std::vector<Record>> two(
      2, {merged, with_times(on(2, collective(Op::Allreduce, 8)), 0, 700), called(Op::finalize)});
  const Loaded loaded = lowered(two);
  REQUIRE(loaded.program.messages.count() == 0);
  REQUIRE(told(loaded.program, 0) == Texts{"calc 700000"});
  REQUIRE(loaded.left_out.front().what == "MPI_Allreduce");
}

Json ways(const std::string& text) { return Json::parse(text); }

TEST_CASE("collectives go by the library's choice, or by the one that is asked for") {
  const std::vector<std::vector<Record>> four(4, {collective(Op::Allreduce, 8)});
  const Loaded chosen = lowered(four);
  REQUIRE(chosen.program.messages.count() == 8);  // recursive doubling: two rounds of four
  REQUIRE_THAT(chosen.notes.back(), Contains("Open MPI 4.1.4"));
  REQUIRE(lowered(four, ways(R"({"allreduce": "ring"})")).program.messages.count() == 24);
  REQUIRE(lowered(four, ways(R"({"allreduce": "linear"})")).program.messages.count() == 6);
  const std::vector<std::vector<Record>> chain(2, {collective(Op::Bcast, 100, 0)});
  REQUIRE(lowered(chain, ways(R"({"bcast": "chain:30"})")).program.messages.count() == 4);
  REQUIRE_THROWS_WITH(lowered(four, ways(R"({"allreduce": "best"})")), Contains("allreduce/ring"));
  REQUIRE_THROWS_WITH(lowered(four, ways(R"({"library": "lam"})")), Contains("known: openmpi, mpich"));
}

TEST_CASE("reducing takes time by the byte") {
  const std::vector<std::vector<Record>> two(2, {collective(Op::Allreduce, 1000)});
  const Loaded loaded = lowered(two, ways(R"({"allreduce": "recursive-doubling", "reduction": 2e-9})"));
  REQUIRE(told(loaded.program, 0) ==
          Texts{"recv from 1", "send 1000 to 1", "wait 0", "wait 1", "calc 2000000"});
}

TEST_CASE(
    "of a non-blocking collective the first round is posted at the call, the rest comes at its completion") {
  Record call = collective(Op::Iallreduce, 8);
  call.request = 0;
  const std::vector<std::vector<Record>> four(
      4, {call, called(Op::finalize, 1000), completed(Op::Wait, {done(0)})});
  const Texts first = told(lowered(four, ways(R"({"reduction": 0})")).program, 0);
  REQUIRE(first == Texts{"recv from 1", "send 8 to 1", "calc 990000", "wait 0", "wait 1", "recv from 2",
                         "send 8 to 2", "wait 2", "wait 3"});
}

TEST_CASE("non-blocking collectives that are waited for in different orders don't deadlock") {
  Record a = collective(Op::Ibarrier, 0);
  a.request = 0;
  Record b = a;
  b.request = 1;
  std::vector<std::vector<Record>> four(
      4, {a, b, completed(Op::Wait, {done(0)}), completed(Op::Wait, {done(1)})});
  four[1] = {a, b, completed(Op::Wait, {done(1)}), completed(Op::Wait, {done(0)})};
  const Loaded loaded = lowered(four, ways(R"({"barrier": "recursive-doubling"})"));
  REQUIRE_THAT(loaded.notes.front(), Contains("posted at the call"));
}

TEST_CASE("ranks that disagree about a collective are named with their records") {
  REQUIRE_THROWS_WITH(
      lowered({{collective(Op::Barrier, 0), collective(Op::Allreduce, 8)},
               {collective(Op::Barrier, 0), collective(Op::Allreduce, 16)}}),
      Contains("rank 1, record 2 (MPI_Allreduce)") && Contains("16 B") && Contains("rank 0, in record 2"));
}

TEST_CASE("what can't be modelled takes as long as it took, and is counted") {
  Record write = called(Op::File_write, 1000, 3000);
  const Loaded loaded = lowered({{write, called(Op::finalize)}});
  REQUIRE(told(loaded.program, 0) == Texts{"calc 4000000"});
  REQUIRE(loaded.share == Approx(0.25));
  REQUIRE(loaded.left_out.size() == 1);
  REQUIRE(loaded.left_out[0].what == "MPI_File_write");
  REQUIRE(loaded.left_out[0].calls == 1);
  REQUIRE(loaded.left_out[0].seconds == Approx(3e-6));
}

Record window_call(Op op, std::int32_t peer = trace::any, std::uint64_t bytes = 0) {
  Record record = called(op, 0, 500);
  record.window = 0;
  record.peer = peer;
  record.bytes = bytes;
  return record;
}

Record window() {
  Record record = called(Op::Win_create);
  record.newwin = 0;
  return record;
}

TEST_CASE("what was put and got between fences is a message at the second one") {
  const Json linear = ways(R"({"barrier": "double-ring"})");
  const Record fence = window_call(Op::Win_fence);
  const std::vector<std::vector<Record>> quiet(2, {window(), fence, fence});
  const Loaded without = lowered(quiet, linear);
  const Loaded with = lowered({{window(), fence, window_call(Op::Put, 1, 64), window_call(Op::Put, 1, 36),
                                window_call(Op::Get, 1, 7), fence},
                               {window(), fence, fence}},
                              linear);
  REQUIRE(with.program.messages.count() == without.program.messages.count() + 2);
  REQUIRE(with.program.total_bytes() == without.program.total_bytes() + 107);
  REQUIRE(with.share == 1);
}

TEST_CASE("a started epoch's puts go to its targets when it is complete") {
  Record post = window_call(Op::Win_post);
  post.members = {0};
  Record start = window_call(Op::Win_start);
  start.members = {1};
  const Loaded loaded =
      lowered({{window(), start, window_call(Op::Put, 1, 64), window_call(Op::Win_complete)},
               {window(), post, window_call(Op::Win_wait)}},
              ways(R"({"barrier": "linear"})"));
  const Texts origin = told(loaded.program, 0);
  REQUIRE(Texts(origin.end() - 4, origin.end()) == Texts{"recv from 1", "wait 2", "send 64 to 1", "wait 3"});
}

TEST_CASE("locked epochs are kept as they were recorded, and counted") {
  const Loaded loaded = lowered({{window(), window_call(Op::Win_lock, 1), window_call(Op::Put, 1, 64),
                                  window_call(Op::Win_unlock, 1), called(Op::finalize)},
                                 {window(), called(Op::finalize)}});
  REQUIRE(loaded.left_out.size() == 3);
  REQUIRE(loaded.share == Approx(0));
}

TEST_CASE("torn, missing and foreign files are named by rank") {
  const std::vector<Record> one{called(Op::finalize)};
  const TraceFolder folder;
  REQUIRE_THROWS_WITH(lower_trace(folder.path(), Json::object(), kUnscaled), Contains("rank 0 has no file"));
  folder.write(0, 3, one);
  folder.write(2, 3, one);
  REQUIRE_THROWS_WITH(lower_trace(folder.path(), Json::object(), kUnscaled),
                      Contains("1 of 3 ranks") && Contains("rank 1"));
  folder.write(1, 3, one);
  REQUIRE_NOTHROW(lower_trace(folder.path(), Json::object(), kUnscaled));
  std::filesystem::resize_file(folder.file(1), std::filesystem::file_size(folder.file(1)) - 120);
  REQUIRE_THROWS_WITH(lower_trace(folder.path(), Json::object(), kUnscaled),
                      Contains("rank 1") && Contains("chunk 0") && Contains("at byte"));
  std::filesystem::copy_file(folder.file(2), folder.file(1),
                             std::filesystem::copy_options::overwrite_existing);
  REQUIRE_THROWS_WITH(lower_trace(folder.path(), Json::object(), kUnscaled),
                      Contains("it is that of rank 2"));
}

TEST_CASE("a rank that was cut short is said to be") {
  const TraceFolder folder;
  folder.write(0, 1, {called(Op::Barrier)}, 3);
  const Loaded loaded = lower_trace(folder.path(), Json::object(), kUnscaled);
  REQUIRE_THAT(loaded.notes.front(), Contains("rank 0 was cut short: signal 0"));
}

/// Bytes of a program's arrays.
std::size_t memory_of(const Program& program) {
  const Messages& messages = program.messages;
  return (program.ops() * (sizeof(OpKind) + (2 * sizeof(std::uint32_t)))) +
         (program.durations.size() * sizeof(Picoseconds)) +
         (messages.count() * ((5 * sizeof(std::uint32_t)) + sizeof(messages.tag[0])));
}

TEST_CASE("memory goes by messages, 64 B each, and nothing by calls without one") {
  constexpr std::size_t kMessages = 500;
  std::vector<Record> sends;
  std::vector<Record> receives;
  for (std::size_t i = 0; i < kMessages; ++i) {
    sends.push_back(message(Op::Send, 1, 1, 8));
    receives.push_back(message(Op::Probe, 0, 1, 8));
    receives.push_back(called(Op::tests));
    receives.push_back(message(Op::Recv, 0, 1, 8));
  }
  const Loaded loaded = lowered({sends, receives});
  REQUIRE(loaded.program.messages.count() == kMessages);
  REQUIRE(memory_of(loaded.program) == 64 * kMessages);
}

TEST_CASE("a trace gives the same program every time") {
  std::vector<Record> calls;
  for (const Op op :
       {Op::Barrier, Op::Allreduce, Op::Scan, Op::Alltoall, Op::Allgather, Op::Reduce_scatter_block}) {
    Record record = collective(op, 24);
    record.bytes2 = 24;
    calls.push_back(record);
  }
  const std::vector<std::vector<Record>> ranks(7, calls);
  const Program first = lowered(ranks).program;
  const Program second = lowered(ranks).program;
  REQUIRE(first.kind == second.kind);
  REQUIRE(first.arg == second.arg);
  REQUIRE(first.messages.tag == second.messages.tag);
}

}  // namespace
}  // namespace wulf::replay
