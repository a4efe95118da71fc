#include <functional>

#include "tests/catch.hpp"
#include "tests/replay/collectives/meaning.hpp"

namespace wulf::replay::meaning {
namespace {

constexpr int kMostRanks = 17;

/// What MPI says about an operation: what each rank is called with, and what its result must hold.
struct Case {
  std::uint64_t input = 0;              ///< bytes of each rank's input
  std::function<Call(int me)> call;     ///< of rank me
  std::function<Bytes(int me)> before;  ///< its result before; may be missing
  std::function<void(int me, const Bytes& result)> check;
};

Value from_all(int begin, int end, std::uint64_t place) {
  Value value;
  for (int r = begin; r < end; ++r) {
    value.emplace_back(r, place);
  }
  return value;
}

Rank prepared(const Case& each, int me) {
  Rank rank;
  for (std::uint64_t place = 0; place < each.input; ++place) {
    rank.rooms[Room::kInput].push_back({{me, place}});
  }
  if (each.before) {
    rank.rooms[Room::kResult] = each.before(me);
  }
  rank.after = {me};
  return rank;
}

Interpreter interpreted(const std::string& name, const Case& each, int size, bool rendezvous) {
  std::vector<std::vector<Step>> scripts;
  std::vector<Rank> ranks;
  for (int me = 0; me < size; ++me) {
    Script script;
    Registry<Algorithm>::at(name, "algorithm").expand(each.call(me), script);
    scripts.push_back(script.steps);
    ranks.push_back(prepared(each, me));
  }
  return {std::move(scripts), std::move(ranks), rendezvous};
}

void check_meaning(const std::string& name, const Case& each, int size) {
  for (const bool rendezvous : {false, true}) {
    INFO(name << " on " << size << " ranks, rendezvous " << rendezvous);
    Interpreter interpreter = interpreted(name, each, size, rendezvous);
    REQUIRE_NOTHROW(interpreter.run());
    for (int me = 0; me < size; ++me) {
      INFO("rank " << me);
      const auto& rooms = interpreter.rank(me).rooms;
      const auto found = rooms.find(Room::kResult);
      each.check(me, found == rooms.end() ? Bytes{} : found->second);
    }
  }
}

std::vector<std::string> ways(const std::string& op) {
  std::vector<std::string> names;
  for (const Algorithm* each : Registry<Algorithm>::all()) {
    if (each->op == op) {
      names.push_back(each->name());
    }
  }
  REQUIRE_FALSE(names.empty());
  return names;
}

Call basic(int size, int me, int root, std::uint64_t bytes) {
  Call call;
  call.size = size;
  call.me = me;
  call.root = root;
  call.bytes = bytes;
  return call;
}

/// Of 1 … 17 ranks, by every root and several lengths, of which some are shorter than there are ranks.
void over_vectors(const std::string& op,
                  const std::function<Case(int, int, std::uint64_t, std::uint64_t)>& of) {
  for (const std::string& name : ways(op)) {
    for (int size = 1; size <= kMostRanks; ++size) {
      for (int root = 0; root<size; root += size> 9 ? 5 : 1) {
        for (const std::uint64_t bytes : {0U, 1U, 7U, 36U}) {
          check_meaning(name, of(size, root, bytes, 0), size);
        }
        check_meaning(name, of(size, root, 36, 5), size);
      }
    }
  }
}

/// Only the vector's own bytes are told; those after it would be somebody else's.
void check_vector(const Bytes& result, std::uint64_t bytes, int begin, int end) {
  REQUIRE(result.size() >= bytes);
  for (std::uint64_t place = 0; place < bytes; ++place) {
    REQUIRE(result[place] == from_all(begin, end, place));
  }
}

TEST_CASE("a broadcast gives the root's bytes to all, by every algorithm") {
  over_vectors("bcast", [](int size, int root, std::uint64_t bytes, std::uint64_t segment) {
    return Case{0,
                [=](int me) {
                  Call call = basic(size, me, root, bytes);
                  call.segment = segment;
                  return call;
                },
                [=](int me) {
                  Bytes message;
                  for (std::uint64_t place = 0; me == root && place < bytes; ++place) {
                    message.push_back({{root, place}});
                  }
                  return message;
                },
                [=](int, const Bytes& result) { check_vector(result, bytes, root, root + 1); }};
  });
}

/// The ranks whose inputs the result of rank `me` must hold.
using Whose = std::function<std::pair<int, int>(int size, int me)>;

void check_reductions(const std::string& op, const Whose& whose, bool at_root) {
  over_vectors(op, [&](int size, int root, std::uint64_t bytes, std::uint64_t segment) {
    return Case{bytes,
                [=](int me) {
                  Call call = basic(size, me, root, bytes);
                  call.segment = segment;
                  return call;
                },
                {},
                [=](int me, const Bytes& result) {
                  const auto [begin, end] = whose(size, me);
                  if ((!at_root || me == root) && begin < end) {
                    check_vector(result, bytes, begin, end);
                  }
                }};
  });
}

TEST_CASE("a reduction holds every rank's input once, by every algorithm") {
  const Whose all = [](int size, int) { return std::pair{0, size}; };
  check_reductions("reduce", all, true);
  check_reductions("allreduce", all, false);
}

TEST_CASE("a scan holds the inputs up to a rank, an exclusive one those before it") {
  check_reductions(
      "scan",
      [](int, int me) {
        return std::pair{0, me + 1};
      },
      false);
  check_reductions(
      "exscan",
      [](int, int me) {
        return std::pair{0, me};
      },
      false);
}

/// Block sizes of rank or block i: equal ones, and such as differ, with empty ones among them.
std::vector<std::uint64_t> sizes(int size, bool equal) {
  std::vector<std::uint64_t> list;
  list.reserve(static_cast<std::size_t>(size));
  for (int i = 0; i < size; ++i) {
    list.push_back(equal ? 3 : static_cast<std::uint64_t>(((5 * i) + 2) % 4));
  }
  return list;
}

bool only_equal(const std::string& name) {
  return name == "gather/binomial" || name == "scatter/binomial" || name == "alltoall/bruck";
}

void over_blocks(const std::string& op, const std::function<Case(int, int, bool)>& of) {
  for (const std::string& name : ways(op)) {
    for (int size = 1; size <= kMostRanks; ++size) {
      for (int root = 0; root<size; root += size> 9 ? 3 : 1) {
        check_meaning(name, of(size, root, true), size);
        if (!only_equal(name)) {
          check_meaning(name, of(size, root, false), size);
        }
      }
    }
  }
}

/// Block r of the result is rank r's input.
void check_gathered(const Bytes& result, const Blocks& blocks) {
  for (int r = 0; r < blocks.count(); ++r) {
    for (std::uint64_t i = 0; i < blocks.size(r); ++i) {
      REQUIRE(result.at(blocks.at(r) + i) == Value{{r, i}});
    }
  }
}

TEST_CASE("a gather has every rank's block at the root, an allgather at all ranks") {
  for (const std::string op : {"gather", "allgather"}) {
    over_blocks(op, [&](int size, int root, bool equal) {
      const Blocks blocks = Blocks::of(sizes(size, equal));
      return Case{4,
                  [=](int me) {
                    Call call = basic(size, me, op == "gather" ? root : 0, blocks.size(me));
                    call.take = op == "allgather" || me == root ? blocks : Blocks{};
                    return call;
                  },
                  {},
                  [=](int me, const Bytes& result) {
                    if (op == "allgather" || me == root) {
                      check_gathered(result, blocks);
                    }
                  }};
    });
  }
}

TEST_CASE("a scatter gives each rank its block of the root's input") {
  over_blocks("scatter", [](int size, int root, bool equal) {
    const Blocks blocks = Blocks::of(sizes(size, equal));
    return Case{blocks.total(),
                [=](int me) {
                  Call call = basic(size, me, root, blocks.size(me));
                  call.give = me == root ? blocks : Blocks{};
                  return call;
                },
                {},
                [=](int me, const Bytes& result) {
                  for (std::uint64_t i = 0; i < blocks.size(me); ++i) {
                    REQUIRE(result.at(i) == Value{{root, blocks.at(me) + i}});
                  }
                }};
  });
}

TEST_CASE("a reduce-scatter leaves each rank its block, reduced of all") {
  over_blocks("reduce_scatter", [](int size, int, bool equal) {
    const Blocks blocks = Blocks::of(sizes(size, equal));
    return Case{blocks.total(),
                [=](int me) {
                  Call call = basic(size, me, 0, 0);
                  call.give = blocks;
                  return call;
                },
                {},
                [=](int me, const Bytes& result) {
                  for (std::uint64_t place = blocks.at(me); place < blocks.at(me + 1); ++place) {
                    REQUIRE(result.at(place) == from_all(0, size, place));
                  }
                }};
  });
}

/// What rank `from` gives to rank `to`.
std::uint64_t crossing(int from, int to, bool equal) {
  return equal ? 2 : static_cast<std::uint64_t>(((3 * from) + to) % 4);
}

Blocks given(int size, int me, bool equal) {
  std::vector<std::uint64_t> list;
  list.reserve(static_cast<std::size_t>(size));
  for (int to = 0; to < size; ++to) {
    list.push_back(crossing(me, to, equal));
  }
  return Blocks::of(list);
}

Blocks taken(int size, int me, bool equal) {
  std::vector<std::uint64_t> list;
  list.reserve(static_cast<std::size_t>(size));
  for (int from = 0; from < size; ++from) {
    list.push_back(crossing(from, me, equal));
  }
  return Blocks::of(list);
}

void check_exchanged(int size, int me, bool equal, const Bytes& result) {
  const Blocks take = taken(size, me, equal);
  for (int from = 0; from < size; ++from) {
    for (std::uint64_t i = 0; i < take.size(from); ++i) {
      REQUIRE(result.at(take.at(from) + i) == Value{{from, given(size, from, equal).at(me) + i}});
    }
  }
}

TEST_CASE("an all-to-all gives each rank the block that each other has for it") {
  over_blocks("alltoall", [](int size, int, bool equal) {
    return Case{static_cast<std::uint64_t>(4 * size),
                [=](int me) {
                  Call call = basic(size, me, 0, 0);
                  call.give = given(size, me, equal);
                  call.take = taken(size, me, equal);
                  return call;
                },
                {},
                [=](int me, const Bytes& result) { check_exchanged(size, me, equal, result); }};
  });
}

TEST_CASE("no rank leaves a barrier before all have come, by every algorithm") {
  for (const std::string& name : ways("barrier")) {
    for (int size = 1; size <= kMostRanks; ++size) {
      const Case each{0, [=](int me) { return basic(size, me, 0, 0); }, {}, [](int, const Bytes&) {}};
      INFO(name << " on " << size << " ranks");
      Interpreter interpreter = interpreted(name, each, size, true);
      REQUIRE_NOTHROW(interpreter.run());
      for (int me = 0; me < size; ++me) {
        REQUIRE(interpreter.rank(me).after.size() == static_cast<std::size_t>(size));
      }
    }
  }
}

TEST_CASE("a neighbourhood's blocks go to its neighbours, and none to nobody") {
  for (int size = 3; size <= kMostRanks; ++size) {
    const Case each{4,
                    [=](int me) {
                      Call call = basic(size, me, 0, 0);
                      call.sources = {me > 0 ? me - 1 : -1, (me + 1) % size};
                      call.destinations = {(me - 1 + size) % size, me + 1 < size ? me + 1 : -1};
                      call.give = Blocks::equal(2, 2);
                      call.take = Blocks::equal(2, 2);
                      return call;
                    },
                    {},
                    [=](int me, const Bytes& result) {
                      REQUIRE(result.at(2) == Value{{(me + 1) % size, 0}});
                      if (me > 0) {
                        REQUIRE(result.at(1) == Value{{me - 1, 3}});
                      }
                    }};
    check_meaning("neighbor/linear", each, size);
  }
}

TEST_CASE("the interpreter sees an expansion that is wrong") {
  Script ahead;
  ahead.receive_now(1, {Room::kResult, 0, 4});
  Script behind;
  behind.receive_now(0, {Room::kResult, 0, 4});
  Interpreter standing({ahead.steps, behind.steps}, std::vector<Rank>(2), false);
  REQUIRE_THROWS_WITH(standing.run(), Catch::Contains("stands at step"));

  Script shorter;
  shorter.send_now(0, {Room::kInput, 0, 3});
  Interpreter uneven({ahead.steps, shorter.steps}, std::vector<Rank>(2), false);
  REQUIRE_THROWS_WITH(uneven.run(), Catch::Contains("room for 4 B"));
}

TEST_CASE("blocks of a split vector are adjacent, and none is a byte longer than another") {
  const Blocks blocks = Blocks::split(17, 5);
  REQUIRE(blocks.at(0) == 0);
  REQUIRE(blocks.total() == 17);
  for (int i = 0; i < 5; ++i) {
    REQUIRE(blocks.size(i) >= 3);
    REQUIRE(blocks.size(i) <= 4);
  }
  REQUIRE(Blocks::split(1ULL << 62U, 1000).total() == 1ULL << 62U);
}

}  // namespace
}  // namespace wulf::replay::meaning
