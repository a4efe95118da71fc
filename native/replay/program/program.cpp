#include "replay/program/program.hpp"

#include <algorithm>
#include <numeric>

namespace wulf::replay {
namespace {

std::string of_message(const Program& program, std::uint32_t message, bool sends) {
  const Messages& messages = program.messages;
  return std::to_string(program.bytes_of(message)) + " B " + (sends ? "to rank " : "from rank ") +
         std::to_string(sends ? messages.to[message] : messages.from[message]) + " with tag " +
         std::to_string(messages.tag[message]);
}

std::string of_live(const LiveReceives& live, std::uint32_t index) {
  return (live.peer[index] == kAnyPeer ? "any rank" : "rank " + std::to_string(live.peer[index])) + " with " +
         (live.tag[index] == kAnyTag ? "any tag" : "tag " + std::to_string(live.tag[index]));
}

std::string words(const Program& program, std::uint32_t op) {
  const std::uint32_t arg = program.arg[op];
  switch (program.kind[op]) {
    case OpKind::kCalc:
      return "computing for " + std::to_string(program.durations[arg]) + " ps";
    case OpKind::kSend:
      return "send of " + of_message(program, arg, true);
    case OpKind::kRecv:
      return "receive of " + of_message(program, arg, false);
    case OpKind::kWaitSend:
      return "wait for the send of " + of_message(program, arg, true);
    case OpKind::kWaitRecv:
      return "wait for the receive of " + of_message(program, arg, false);
    case OpKind::kRecvLive:
      return "receive from " + of_live(program.live, arg);
    case OpKind::kWaitLive:
      return "wait for the receive from " + of_live(program.live, arg);
  }
  return "";
}

}  // namespace

std::uint32_t Program::rank_of(std::uint32_t op) const {
  return static_cast<std::uint32_t>(std::upper_bound(first.begin(), first.end(), op) - first.begin() - 1);
}

std::string Program::describe(std::uint32_t op) const {
  const std::uint32_t record = mark_of(op);
  return "operation " + std::to_string(op - first[rank_of(op)]) +
         (record != 0 ? " (record " + std::to_string(record) + ")" : "") + ": " + words(*this, op);
}

std::uint64_t Program::total_bytes() const {
  return std::accumulate(messages.size.begin(), messages.size.end(), std::uint64_t{0},
                         [this](std::uint64_t sum, std::uint32_t size) { return sum + sizes[size]; });
}

double Program::compute_seconds() const {
  return static_cast<double>(std::accumulate(durations.begin(), durations.end(), Picoseconds{0})) /
         kPerSecond;
}

}  // namespace wulf::replay
