#include "replay/program/joined.hpp"

#include "core/json/error.hpp"
#include "replay/program/builder.hpp"

namespace wulf::replay {
namespace {

/// Where a program's ranks, operations and the rest begin in the one that holds all.
struct Begins {
  std::uint32_t rank;
  std::uint32_t op;
  std::uint32_t duration;
  std::uint32_t message;
  std::uint32_t live;
};

template <typename T>
void append(Array<T>& all, const Array<T>& own) {
  all.insert(all.end(), own.begin(), own.end());
}

template <typename T>
void append(Array<T>& all, const Array<T>& own, T begin, T none) {
  for (const T value : own) {
    all.push_back(value == none ? none : value + begin);
  }
}

/// An operation's argument, among those of all programs.
std::uint32_t argument(OpKind kind, std::uint32_t arg, const Begins& begins) {
  switch (kind) {
    case OpKind::kCalc:
      return arg + begins.duration;
    case OpKind::kRecvLive:
    case OpKind::kWaitLive:
      return arg + begins.live;
    default:
      return arg + begins.message;
  }
}

/// Sizes of messages that connect stand behind all others.
void append_messages(Program& all, const Program& own, const Begins& begins, std::uint32_t size,
                     std::uint32_t connecting) {
  const Messages& messages = own.messages;
  append(all.messages.from, messages.from, begins.rank, kNone);
  append(all.messages.to, messages.to, begins.rank, kNone);
  for (const std::uint32_t each : messages.size) {
    all.messages.size.push_back(each < own.connecting ? each + size : each - own.connecting + connecting);
  }
  append(all.messages.tag, messages.tag);
  append(all.messages.send_op, messages.send_op, begins.op, kNone);
  append(all.messages.recv_op, messages.recv_op, begins.op, kNone);
  append(all.live.peer, own.live.peer, begins.rank, kAnyPeer);
  append(all.live.tag, own.live.tag);
}

void append_operations(Program& all, const Program& own, const Begins& begins) {
  for (std::uint32_t rank = 0; rank < own.ranks(); ++rank) {
    all.first.push_back(own.first[rank + 1] + begins.op);
  }
  append(all.kind, own.kind);
  for (std::size_t op = 0; op < own.ops(); ++op) {
    all.arg.push_back(argument(own.kind[op], own.arg[op], begins));
    all.mark.push_back(own.mark_of(static_cast<std::uint32_t>(op)));
  }
  append(all.durations, own.durations);
}

/// How many sizes are of messages that don't connect.
std::size_t plain_sizes(const Program& program) {
  return std::min<std::size_t>(program.connecting, program.sizes.size());
}

void check(std::span<const Program* const> programs) {
  std::size_t ops = 0;
  for (const Program* each : programs) {
    if (!each->graph.empty()) {
      throw bad_parameter("programs", "a graph can't be replayed beside another program");
    }
    ops += each->ops() + each->ranks();
  }
  if (ops >= kNone) {
    throw too_many_operations();
  }
}

}  // namespace

Program joined(std::span<const Program* const> programs) {
  check(programs);
  Program all;
  all.first.push_back(0);
  std::vector<std::uint32_t> sizes;
  for (const Program* own : programs) {
    sizes.push_back(static_cast<std::uint32_t>(all.sizes.size()));
    all.sizes.insert(all.sizes.end(), own->sizes.begin(),
                     own->sizes.begin() + static_cast<std::ptrdiff_t>(plain_sizes(*own)));
    all.connect = all.connect == 0 ? own->connect : all.connect;
  }
  const auto plain = static_cast<std::uint32_t>(all.sizes.size());
  for (std::size_t i = 0; i < programs.size(); ++i) {
    const Program& own = *programs[i];
    const auto connecting = static_cast<std::uint32_t>(all.sizes.size());
    all.sizes.insert(all.sizes.end(), own.sizes.begin() + static_cast<std::ptrdiff_t>(plain_sizes(own)),
                     own.sizes.end());
    const Begins begins{.rank = all.ranks(),
                        .op = static_cast<std::uint32_t>(all.ops()),
                        .duration = static_cast<std::uint32_t>(all.durations.size()),
                        .message = static_cast<std::uint32_t>(all.messages.count()),
                        .live = static_cast<std::uint32_t>(all.live.count())};
    append_messages(all, own, begins, sizes[i], connecting);
    append_operations(all, own, begins);
  }
  all.connecting = all.connect > 0 ? plain : kNone;
  return all;
}

}  // namespace wulf::replay
