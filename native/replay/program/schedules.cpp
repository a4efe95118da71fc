#include "replay/program/schedules.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "replay/program/builder.hpp"
#include "replay/program/fixed_point.hpp"
#include "replay/program/source.hpp"

namespace wulf::replay {
namespace {

constexpr std::uint64_t kMostOps = kNone - 1;

/// Writes a schedule's program, rank by rank. A schedule knows which of its sender's messages a receive gets,
/// so that nothing has to be matched: a quarter of a ProgramBuilder's time, and half of its memory.
///
/// A `Kind` has a `name`; `before(rank, ranks)`, how many messages of a round all ranks below send; and
/// `part(writer, rank)`, what a rank does in a round.
template <typename Kind>
class Writer {
 public:
  Writer(const Schedule& schedule, std::int64_t compute)
      : schedule_(schedule), duration_(mul(compute, static_cast<std::uint64_t>(schedule.compute))) {
    const std::uint64_t own = schedule.compute > 0 ? schedule.ranks : 0;
    const std::uint64_t messages = Kind::before(schedule.ranks, schedule.ranks);
    const std::uint64_t a_round = (4 * messages) + own;
    if (a_round > kMostOps / schedule.rounds) {
      throw too_many_operations();
    }
    reserve(a_round * schedule.rounds, messages * schedule.rounds, own * schedule.rounds);
  }

  [[nodiscard]] Program program() {
    for (rank_ = 0; rank_ < schedule_.ranks; ++rank_) {
      program_.first.push_back(static_cast<std::uint32_t>(program_.kind.size()));
      for (round_ = 0; round_ < schedule_.rounds; ++round_) {
        if (schedule_.compute > 0) {
          add(OpKind::kCalc, static_cast<std::uint32_t>(program_.durations.size()));
          program_.durations.push_back(duration_);
        }
        Kind::part(*this, rank_);
      }
    }
    program_.first.push_back(static_cast<std::uint32_t>(program_.kind.size()));
    return std::move(program_);
  }

  [[nodiscard]] std::uint32_t ranks() const { return schedule_.ranks; }

  /// The n-th message that a rank sends in this round.
  [[nodiscard]] std::uint32_t message(std::uint32_t from, std::uint32_t n) const {
    const std::uint64_t first = Kind::before(from, ranks());
    const std::uint64_t each = Kind::before(from + std::uint64_t{1}, ranks()) - first;
    return static_cast<std::uint32_t>((first * schedule_.rounds) + (each * round_) + n);
  }

  /// Sends to a rank; the message.
  std::uint32_t send(std::uint32_t peer) {
    Messages& messages = program_.messages;
    const auto message = static_cast<std::uint32_t>(messages.from.size());
    messages.from.push_back(rank_);
    messages.to.push_back(peer);
    messages.size.push_back(0);
    messages.tag.push_back(round_);
    messages.send_op.push_back(static_cast<std::uint32_t>(program_.kind.size()));
    add(OpKind::kSend, message);
    return message;
  }
  /// Receives the n-th message that a rank sends in this round; the message.
  std::uint32_t receive(std::uint32_t from, std::uint32_t n) {
    const std::uint32_t taken = message(from, n);
    program_.messages.recv_op[taken] = static_cast<std::uint32_t>(program_.kind.size());
    add(OpKind::kRecv, taken);
    return taken;
  }
  void wait_sent(std::uint32_t message) { add(OpKind::kWaitSend, message); }
  void wait_received(std::uint32_t message) { add(OpKind::kWaitRecv, message); }

 private:
  void reserve(std::size_t ops, std::size_t messages, std::size_t durations) {
    program_.first.reserve(schedule_.ranks + std::size_t{1});
    program_.kind.reserve(ops);
    program_.arg.reserve(ops);
    program_.durations.reserve(durations);
    program_.sizes.assign(1, schedule_.bytes);
    Messages& all = program_.messages;
    for (auto* field : {&all.from, &all.to, &all.size, &all.send_op}) {
      field->reserve(messages);
    }
    all.tag.reserve(messages);
    all.recv_op.resize(messages);
  }

  void add(OpKind kind, std::uint32_t arg) {
    program_.kind.push_back(kind);
    program_.arg.push_back(arg);
  }

  Schedule schedule_;
  Picoseconds duration_;
  Program program_;
  std::uint32_t rank_ = 0;
  std::uint32_t round_ = 0;
};

/// Hensgen, Finkel, Manber: Two algorithms for barrier synchronization, 1988.
struct Dissemination {
  static constexpr const char* name = "dissemination";
  static std::uint64_t before(std::uint64_t rank, std::uint64_t ranks) {
    return rank * static_cast<std::uint64_t>(std::bit_width(ranks - 1));
  }
  static void part(Writer<Dissemination>& to, std::uint32_t rank) {
    const std::uint64_t ranks = to.ranks();
    std::uint32_t n = 0;
    for (std::uint64_t step = 1; step < ranks; step *= 2, ++n) {
      const std::uint32_t received = to.receive(static_cast<std::uint32_t>((rank + ranks - step) % ranks), n);
      to.wait_sent(to.send(static_cast<std::uint32_t>((rank + step) % ranks)));
      to.wait_received(received);
    }
  }
};

/// A broadcast from rank 0: rank r has the children 2r + 1 and 2r + 2.
struct BinaryTree {
  static constexpr const char* name = "binary-tree";
  static std::uint64_t before(std::uint64_t rank, std::uint64_t ranks) {
    return std::min(2 * rank, ranks - 1);
  }
  static void part(Writer<BinaryTree>& to, std::uint32_t rank) {
    if (rank > 0) {
      to.wait_received(to.receive((rank - 1) / 2, (rank - 1) % 2));
    }
    for (std::uint64_t child = (2 * std::uint64_t{rank}) + 1; child <= (2 * std::uint64_t{rank}) + 2;
         ++child) {
      if (child < to.ranks()) {
        to.wait_sent(to.send(static_cast<std::uint32_t>(child)));
      }
    }
  }
};

/// All receives and all sends at once, from the rank behind on.
struct LinearAlltoall {
  static constexpr const char* name = "linear-alltoall";
  static std::uint64_t before(std::uint64_t rank, std::uint64_t ranks) { return rank * (ranks - 1); }
  static void part(Writer<LinearAlltoall>& to, std::uint32_t rank) {
    const std::uint32_t ranks = to.ranks();
    for (std::uint32_t step = 1; step < ranks; ++step) {
      to.receive(behind(rank, step, ranks), step - 1);
    }
    for (std::uint32_t step = 1; step < ranks; ++step) {
      to.send(behind(rank, ranks - step, ranks));
    }
    for (std::uint32_t step = 1; step < ranks; ++step) {
      to.wait_received(to.message(behind(rank, step, ranks), step - 1));
      to.wait_sent(to.message(rank, step - 1));
    }
  }
  static std::uint32_t behind(std::uint32_t rank, std::uint32_t step, std::uint32_t ranks) {
    return rank >= step ? rank - step : rank + (ranks - step);
  }
};

/// A token that goes round once.
struct Ring {
  static constexpr const char* name = "ring";
  static std::uint64_t before(std::uint64_t rank, std::uint64_t /*ranks*/) { return rank; }
  static void part(Writer<Ring>& to, std::uint32_t rank) {
    const std::uint32_t last = to.ranks() - 1;
    if (rank == 0) {
      to.wait_sent(to.send(1));
      to.wait_received(to.receive(last, 0));
    } else {
      to.wait_received(to.receive(rank - 1, 0));
      to.wait_sent(to.send(rank == last ? 0 : rank + 1));
    }
  }
};

/// Ranks 0 and 1, 2 and 3, …; an odd last one is idle.
struct Pingpong {
  static constexpr const char* name = "pingpong";
  static std::uint64_t before(std::uint64_t rank, std::uint64_t ranks) {
    return std::min(rank, ranks - (ranks % 2));
  }
  static void part(Writer<Pingpong>& to, std::uint32_t rank) {
    const std::uint32_t peer = rank ^ 1U;
    if (peer >= to.ranks()) {
      return;
    }
    if (rank > peer) {
      to.wait_received(to.receive(peer, 0));
    }
    to.wait_sent(to.send(peer));
    if (rank < peer) {
      to.wait_received(to.receive(peer, 0));
    }
  }
};

/// All send to rank 0, which takes them in the order of ranks.
struct Incast {
  static constexpr const char* name = "incast";
  static std::uint64_t before(std::uint64_t rank, std::uint64_t /*ranks*/) {
    return rank == 0 ? 0 : rank - 1;
  }
  static void part(Writer<Incast>& to, std::uint32_t rank) {
    if (rank > 0) {
      to.wait_sent(to.send(0));
      return;
    }
    for (std::uint32_t from = 1; from < to.ranks(); ++from) {
      to.receive(from, 0);
    }
    for (std::uint32_t from = 1; from < to.ranks(); ++from) {
      to.wait_received(to.message(from, 0));
    }
  }
};

struct KindOf {
  const char* name;
  Program (*write)(const Schedule& schedule, std::int64_t compute);
};

template <typename Kind>
Program written(const Schedule& schedule, std::int64_t compute) {
  return Writer<Kind>(schedule, compute).program();
}

template <typename... Kinds>
constexpr std::array<KindOf, sizeof...(Kinds)> table() {
  return {KindOf{Kinds::name, written<Kinds>}...};
}

constexpr auto kScheduleKinds = table<Dissemination, BinaryTree, LinearAlltoall, Ring, Pingpong, Incast>();

const KindOf& kind_of(const std::string& kind) {
  std::string known;
  for (const KindOf& each : kScheduleKinds) {
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

const Registered<Source> registered_scheduled{std::make_unique<Scheduled>()};

}  // namespace

Program make_schedule(const Schedule& schedule, std::int64_t compute) {
  const KindOf& kind = kind_of(schedule.kind);
  if (schedule.ranks < 2) {
    throw bad_parameter("ranks", "a schedule needs 2 ranks or more");
  }
  return kind.write(schedule, compute);
}

}  // namespace wulf::replay
