#include "replay/schedules.hpp"

#include <array>
#include <bit>

#include "core/error.hpp"
#include "core/params.hpp"
#include "replay/builder.hpp"
#include "replay/source.hpp"

namespace wulf::replay {
namespace {

/// One rank's part of one round; its messages bear the tag of the round.
using Part = void (*)(ProgramBuilder& to, std::uint32_t rank, const Schedule& schedule, std::uint64_t tag);

/// Sends to one rank while it receives from another, and waits for both.
void exchange(ProgramBuilder& to, std::uint32_t rank, std::uint32_t next, std::uint32_t before,
              std::uint64_t bytes, std::uint64_t tag) {
  to.add_recv(rank, before, bytes, tag, 0);
  to.add_send(rank, next, bytes, tag, 1);
  to.add_wait(rank, 1);
  to.add_wait(rank, 0);
}

void send(ProgramBuilder& to, std::uint32_t rank, std::uint32_t peer, std::uint64_t bytes,
          std::uint64_t tag) {
  to.add_send(rank, peer, bytes, tag, 0);
  to.add_wait(rank, 0);
}

void receive(ProgramBuilder& to, std::uint32_t rank, std::uint32_t peer, std::uint64_t bytes,
             std::uint64_t tag) {
  to.add_recv(rank, peer, bytes, tag, 0);
  to.add_wait(rank, 0);
}

/// Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988.
void dissemination(ProgramBuilder& to, std::uint32_t rank, const Schedule& schedule, std::uint64_t tag) {
  for (std::uint64_t step = 1; step < schedule.ranks; step *= 2) {
    const auto next = static_cast<std::uint32_t>((rank + step) % schedule.ranks);
    const auto before = static_cast<std::uint32_t>((rank + schedule.ranks - step) % schedule.ranks);
    exchange(to, rank, next, before, schedule.bytes, tag);
  }
}

/// A broadcast from rank 0: rank r has the children 2r + 1 and 2r + 2.
void binary_tree(ProgramBuilder& to, std::uint32_t rank, const Schedule& schedule, std::uint64_t tag) {
  if (rank > 0) {
    receive(to, rank, (rank - 1) / 2, schedule.bytes, tag);
  }
  for (std::uint64_t child = (2 * std::uint64_t{rank}) + 1; child <= (2 * std::uint64_t{rank}) + 2; ++child) {
    if (child < schedule.ranks) {
      send(to, rank, static_cast<std::uint32_t>(child), schedule.bytes, tag);
    }
  }
}

/// All receives and all sends at once, from the rank behind on.
void linear_alltoall(ProgramBuilder& to, std::uint32_t rank, const Schedule& schedule, std::uint64_t tag) {
  const std::uint32_t ranks = schedule.ranks;
  for (std::uint32_t step = 1; step < ranks; ++step) {
    to.add_recv(rank, (rank + ranks - step) % ranks, schedule.bytes, tag, step);
  }
  for (std::uint32_t step = 1; step < ranks; ++step) {
    to.add_send(rank, (rank + step) % ranks, schedule.bytes, tag, ranks + step);
  }
  for (std::uint32_t step = 1; step < ranks; ++step) {
    to.add_wait(rank, step);
    to.add_wait(rank, ranks + step);
  }
}

/// A token that goes round once.
void ring(ProgramBuilder& to, std::uint32_t rank, const Schedule& schedule, std::uint64_t tag) {
  const std::uint32_t next = (rank + 1) % schedule.ranks;
  const std::uint32_t before = (rank + schedule.ranks - 1) % schedule.ranks;
  if (rank == 0) {
    send(to, rank, next, schedule.bytes, tag);
    receive(to, rank, before, schedule.bytes, tag);
  } else {
    receive(to, rank, before, schedule.bytes, tag);
    send(to, rank, next, schedule.bytes, tag);
  }
}

/// Ranks 0 and 1, 2 and 3, …; an odd last one is idle.
void pingpong(ProgramBuilder& to, std::uint32_t rank, const Schedule& schedule, std::uint64_t tag) {
  const std::uint32_t peer = rank ^ 1U;
  if (peer >= schedule.ranks) {
    return;
  }
  if (rank < peer) {
    send(to, rank, peer, schedule.bytes, tag);
    receive(to, rank, peer, schedule.bytes, tag);
  } else {
    receive(to, rank, peer, schedule.bytes, tag);
    send(to, rank, peer, schedule.bytes, tag);
  }
}

/// All send to rank 0, which takes them in the order of ranks.
void incast(ProgramBuilder& to, std::uint32_t rank, const Schedule& schedule, std::uint64_t tag) {
  if (rank > 0) {
    send(to, rank, 0, schedule.bytes, tag);
    return;
  }
  for (std::uint32_t from = 1; from < schedule.ranks; ++from) {
    to.add_recv(rank, from, schedule.bytes, tag, from);
  }
  for (std::uint32_t from = 1; from < schedule.ranks; ++from) {
    to.add_wait(rank, from);
  }
}

struct Kind {
  const char* name;
  Part part;
  /// Messages of a round with so many ranks, about.
  std::size_t (*messages)(std::size_t ranks);
};

std::size_t one_each(std::size_t ranks) { return ranks; }
std::size_t one_a_step(std::size_t ranks) {
  return ranks * static_cast<std::size_t>(std::bit_width(ranks - 1));
}
std::size_t one_a_pair(std::size_t ranks) { return ranks * (ranks - 1); }

constexpr std::array kKinds{Kind{"dissemination", dissemination, one_a_step},
                            Kind{"binary-tree", binary_tree, one_each},
                            Kind{"linear-alltoall", linear_alltoall, one_a_pair},
                            Kind{"ring", ring, one_each},
                            Kind{"pingpong", pingpong, one_each},
                            Kind{"incast", incast, one_each}};

const Kind& kind_of(const std::string& kind) {
  std::string known;
  for (const Kind& each : kKinds) {
    if (kind == each.name) {
      return each;
    }
    known += (known.empty() ? "" : ", ") + std::string(each.name);
  }
  throw bad_parameter("kind", "there is no schedule '" + kind + "'; known: " + known);
}

/// {"schedule": {"kind", "ranks", "bytes", "rounds", "compute_ps"}}.
class Scheduled final : public Source {
 public:
  Scheduled() : Source("schedule", "a program made in memory: kind, ranks, bytes, rounds, compute_ps") {}

  [[nodiscard]] Loaded load(const Json& value, const Json& /*collectives*/,
                            std::int64_t compute) const override {
    if (!value.is_object()) {
      throw bad_parameter("schedule",
                          "schedule is " + value.dump() + R"(, but must be an object: {"kind": "ring", …})");
    }
    refuse_unknown_fields(value, {"kind", "ranks", "bytes", "rounds", "compute_ps"});
    Schedule schedule{.kind = text_field(value, "kind")};
    schedule.ranks = static_cast<std::uint32_t>(int_field(value, "ranks", 2, kAnyPeer - 1));
    if (value.contains("bytes")) {
      schedule.bytes = static_cast<std::uint64_t>(int_field(value, "bytes", 0, kMostBytes));
    }
    if (value.contains("rounds")) {
      schedule.rounds = static_cast<std::uint32_t>(int_field(value, "rounds", 1, INT32_MAX));
    }
    if (value.contains("compute_ps")) {
      schedule.compute = int_field(value, "compute_ps", 0, kLongest);
    }
    Loaded loaded;
    loaded.program = make_schedule(schedule, compute);
    return loaded;
  }

 private:
  static constexpr std::int64_t kMostBytes = 1LL << 40U;
  static constexpr Picoseconds kLongest = 1'000'000'000'000'000;  // 1000 s
};

const Registered<Source> registered{std::make_unique<Scheduled>()};

}  // namespace

Program make_schedule(const Schedule& schedule, std::int64_t compute) {
  const Kind& kind = kind_of(schedule.kind);
  if (schedule.ranks < 2) {
    throw bad_parameter("ranks", "a schedule needs 2 ranks or more");
  }
  ProgramBuilder builder(schedule.ranks, compute);
  const std::size_t messages = kind.messages(schedule.ranks) * schedule.rounds;
  builder.reserve((4 * messages) + (schedule.compute > 0 ? std::size_t{schedule.ranks} * schedule.rounds : 0),
                  2 * messages);
  for (std::uint32_t rank = 0; rank < schedule.ranks; ++rank) {
    for (std::uint32_t round = 0; round < schedule.rounds; ++round) {
      if (schedule.compute > 0) {
        builder.add_calc(rank, schedule.compute);
      }
      kind.part(builder, rank, schedule, round);
    }
  }
  return builder.finish();
}

}  // namespace wulf::replay
