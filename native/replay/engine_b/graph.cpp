#include <algorithm>

#include "replay/engine_b/replay.hpp"

// A program that is a graph: operations are taken as their dependencies are met, in the order of time.
//
// A CPU serves what is ready in that order: computing, the overhead of a send, and of a receive whose message
// is there. Posting takes none.

namespace wulf::replay {

template <typename Time>
void TimeOrdered<Time>::start_graph() {
  const OperationGraph& graph = program_.graph;
  cpus_.resize(graph.rank_of_cpu.size());
  operations_.resize(graph.ops());
  for (std::uint32_t op = 0; op < graph.ops(); ++op) {
    operations_[op].needs = graph.needs[op];
    if (graph.needs[op] == 0) {
      push(0, EventKind::kReady, op);
    }
  }
}

/// One of an operation's dependencies is met at that time.
template <typename Time>
void TimeOrdered<Time>::met(std::uint32_t op, const Time& time) {
  Operation& operation = operations_[op];
  raise(operation.ready, time);
  if (--operation.needs == 0) {
    push(operation.ready.at, EventKind::kReady, op);
  }
}

template <typename Time>
void TimeOrdered<Time>::begun(std::uint32_t op, const Time& time) {
  for (const std::uint32_t next : program_.graph.after_begin(op)) {
    met(next, time);
  }
}

template <typename Time>
void TimeOrdered<Time>::ended(std::uint32_t op, const Time& time) {
  const OperationGraph& graph = program_.graph;
  operations_[op].ended = true;
  raise(ranks_[graph.rank_of_cpu[graph.cpu[op]]].clock, time);
  for (const std::uint32_t next : graph.after_end(op)) {
    met(next, time);
  }
}

template <typename Time>
std::uint32_t TimeOrdered<Time>::message_of(std::uint32_t op) const {
  const std::uint32_t arg = program_.graph.arg[op];
  return program_.graph.kind[op] == OpKind::kRecvLive ? live_[arg].message : arg;
}

/// An operation's turn: it computes, or is posted.
template <typename Time>
void TimeOrdered<Time>::operate(std::uint32_t op) {
  const OperationGraph& graph = program_.graph;
  Operation& operation = operations_[op];
  Time& cpu = cpus_[graph.cpu[op]];
  const OpKind kind = graph.kind[op];
  const std::uint32_t arg = graph.arg[op];
  operation.posted = true;
  if (kind == OpKind::kCalc || kind == OpKind::kSend) {
    raise(cpu, operation.ready);
    begun(op, cpu);
  } else {
    begun(op, operation.ready);
  }
  switch (kind) {
    case OpKind::kCalc:
      cpu.add(&Parts::compute, graph.durations[arg]);
      return ended(op, cpu);
    case OpKind::kSend:
      send(cpu, arg);
      return costs_[messages_[arg].row].eager ? ended(op, cpu) : void();
    case OpKind::kRecvLive:
      live_[arg].posted = operation.ready;
      live_rank_[arg] = graph.rank_of_cpu[graph.cpu[op]];
      return push(operation.ready.at, EventKind::kPost, arg);
    default:
      post(operation.ready, arg);
      return messages_[arg].state == State::kThere ? announce_service(OpKind::kWaitRecv, arg) : void();
  }
}

/// What a wait would wait for is known: the time from which a receive takes its message, or at which a
/// rendezvous' send is through.
template <typename Time>
void TimeOrdered<Time>::announce_service(OpKind kind, std::uint32_t arg) {
  const OperationGraph& graph = program_.graph;
  if (kind == OpKind::kWaitSend) {
    return push(left_[arg].at, EventKind::kServed, graph.sends[arg]);
  }
  const std::uint32_t op = kind == OpKind::kWaitLive ? graph.live[arg] : graph.receives[arg];
  if (operations_[op].posted) {
    push(std::max(messages_[message_of(op)].when.at, operations_[op].ready.at), EventKind::kServed, op);
  }
}

template <typename Time>
void TimeOrdered<Time>::serve_operation(std::uint32_t op) {
  const OperationGraph& graph = program_.graph;
  const std::uint32_t number = message_of(op);
  if (graph.kind[op] == OpKind::kSend) {
    return ended(op, left_[number]);
  }
  Time& cpu = cpus_[graph.cpu[op]];
  raise(cpu, operations_[op].ready);
  raise(cpu, messages_[number].when);
  cpu.add(&Parts::overhead, costs_[messages_[number].row].receive);
  ended(op, cpu);
}

/// Of each rank the first message that something waits for.
template <typename Time>
std::vector<Blocked> TimeOrdered<Time>::blocked_operations() const {
  const OperationGraph& graph = program_.graph;
  std::vector<Blocked> blocked;
  for (std::uint32_t op = 0; op < graph.ops(); ++op) {
    const std::uint32_t rank = graph.rank_of_cpu[graph.cpu[op]];
    if (operations_[op].posted && !operations_[op].ended &&
        (blocked.empty() || blocked.back().rank != rank)) {
      blocked.push_back({rank, graph.op[op]});
    }
  }
  return blocked;
}

template void TimeOrdered<BareTime>::met(std::uint32_t, const BareTime&);
template void TimeOrdered<BareTime>::begun(std::uint32_t, const BareTime&);
template void TimeOrdered<BareTime>::ended(std::uint32_t, const BareTime&);
template std::uint32_t TimeOrdered<BareTime>::message_of(std::uint32_t) const;
template void TimeOrdered<BareTime>::start_graph();
template void TimeOrdered<BareTime>::operate(std::uint32_t);
template void TimeOrdered<BareTime>::serve_operation(std::uint32_t);
template void TimeOrdered<BareTime>::announce_service(OpKind, std::uint32_t);
template std::vector<Blocked> TimeOrdered<BareTime>::blocked_operations() const;
template void TimeOrdered<TracedTime>::met(std::uint32_t, const TracedTime&);
template void TimeOrdered<TracedTime>::begun(std::uint32_t, const TracedTime&);
template void TimeOrdered<TracedTime>::ended(std::uint32_t, const TracedTime&);
template std::uint32_t TimeOrdered<TracedTime>::message_of(std::uint32_t) const;
template void TimeOrdered<TracedTime>::start_graph();
template void TimeOrdered<TracedTime>::operate(std::uint32_t);
template void TimeOrdered<TracedTime>::serve_operation(std::uint32_t);
template void TimeOrdered<TracedTime>::announce_service(OpKind, std::uint32_t);
template std::vector<Blocked> TimeOrdered<TracedTime>::blocked_operations() const;

}  // namespace wulf::replay
