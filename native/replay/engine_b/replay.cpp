#include "replay/engine_b/replay.hpp"

#include <algorithm>
#include <utility>

namespace wulf::replay {

template <typename Time>
TimeOrdered<Time>::TimeOrdered(const Program& program, const Network& network)
    : program_(program),
      network_(network),
      transfers_(network, program.ranks()),
      costs_(program, network, [this](std::uint64_t bytes) { return transfers_.takes(bytes); }),
      ranks_(program.ranks()),
      messages_(program.messages.count()),
      live_(program.live.count()) {
  if (!program.graph.empty()) {
    start_graph();
  }
  for (std::uint32_t r = 0; r < program.ranks() && program.graph.empty(); ++r) {
    ranks_[r].at = program.first[r];
    ranks_[r].end = program.first[r + 1];
    ready_.push_back(program.ranks() - 1 - r);
  }
  if (!costs_.all_eager()) {
    left_.resize(messages_.size());
    computing_.resize(network.progress ? 0 : ranks_.size());
    requested_.resize(network.progress ? 0 : messages_.size());
  }
  if (network.in_order) {
    departs_.resize(messages_.size());
  }
  if (!live_.empty()) {
    bound_.assign(messages_.size(), kNone);
    live_rank_.assign(live_.size(), 0);
  }
}

template <typename Time>
Run TimeOrdered<Time>::run(bool ends) {
  drain();
  const std::vector<Blocked> blocked = operations_.empty() ? blocked_ranks() : blocked_operations();
  if (!blocked.empty()) {
    throw deadlock(program_, blocked);
  }
  return result(ends);
}

template <typename Time>
void TimeOrdered<Time>::drain() {
  run_ready();
  while (!queue_.empty()) {
    const Event event = queue_.pop();
    ++events_;
    check(event.time);
    now_ = event.time;
    take(event);
    run_ready();
  }
}

/// Overflow guard (int64 ps): CostClasses::check() has seen to all but slow links and windows.
template <typename Time>
void TimeOrdered<Time>::check(Picoseconds now) const {
  constexpr Picoseconds kLatest = 1LL << 62U;
  if (now > kLatest) {
    throw bad_parameter("networks",
                        "on the network '" + network_.name +
                            "' the program takes longer than 53 days, more than picoseconds in 64 bits "
                            "hold: check the rates of its topology and the window of its slow start");
  }
}

template <typename Time>
void TimeOrdered<Time>::take(Event event) {
  const auto arg = static_cast<std::uint32_t>(event.key);
  switch (static_cast<EventKind>(event.key >> 32U)) {
    case EventKind::kReady:
      return operate(arg);
    case EventKind::kServed:
      return serve_operation(arg);
    case EventKind::kArrival:
      return serve(arg);
    case EventKind::kEnvelope:
      return arrive(arg);
    case EventKind::kPost:
      return post_live(live_rank_[arg], arg);
    case EventKind::kDepart:
      return depart(arg);
    case EventKind::kMeet:
      return answer(arg);
    case EventKind::kBegin:
      return begin(event.time, arg);
    case EventKind::kResume:
      transfers_.resume(event.time, arg);
      return after_transfers(event.time);
    case EventKind::kEnds:
      return end_transfers(event.time);
    case EventKind::kSettle:
      return settle_transfers(event.time);
  }
}

template <typename Time>
void TimeOrdered<Time>::run_ready() {
  while (!ready_.empty()) {
    const std::uint32_t number = ready_.back();
    ready_.pop_back();
    run_rank(number);
  }
}

template <typename Time>
void TimeOrdered<Time>::run_rank(std::uint32_t number) {
  Rank& rank = ranks_[number];
  rank.waits_for = kNothing;
  while (rank.at != rank.end) {
    const OpKind kind = program_.kind[rank.at];
    const std::uint32_t arg = program_.arg[rank.at];
    if (!step(rank, number, kind, arg)) {
      const std::uint32_t op = std::max(rank.at, rank.seen);
      rank.waits_for = wait_key(program_.kind[op], program_.arg[op]);
      return;
    }
    ++rank.at;
  }
  look(number);
}

/// A rank sees what has come: it waits, or has ended.
template <typename Time>
void TimeOrdered<Time>::look(std::uint32_t number) {
  if (!computing_.empty()) {
    computing_[number].end(now_, ranks_[number].clock.at);
  }
}

/// False where the rank has to wait.
template <typename Time>
bool TimeOrdered<Time>::step(Rank& rank, std::uint32_t number, OpKind kind, std::uint32_t arg) {
  switch (kind) {
    case OpKind::kCalc:
      compute(rank, number, program_.durations[arg]);
      return true;
    case OpKind::kSend:
      send(rank.clock, arg);
      return true;
    case OpKind::kRecv:
      post(rank.clock, arg);
      return true;
    case OpKind::kWaitSend:
      look(number);
      return wait_send(rank, arg);
    case OpKind::kWaitRecv:
    case OpKind::kWaitLive:
      look(number);
      return wait_receives(rank);
    case OpKind::kRecvLive:
      live_[arg].posted = rank.clock;
      live_rank_[arg] = number;
      push(rank.clock.at, EventKind::kPost, arg);
      return true;
  }
  return false;
}

template <typename Time>
void TimeOrdered<Time>::compute(Rank& rank, std::uint32_t number, Picoseconds duration) {
  if (!computing_.empty()) {
    computing_[number].begin(rank.clock.at);
  }
  rank.clock.add(&Parts::compute, duration);
}

template <typename Time>
void TimeOrdered<Time>::wake(std::uint32_t number, OpKind kind, std::uint32_t arg) {
  if (!operations_.empty()) {
    return announce_service(kind, arg);
  }
  if (ranks_[number].waits_for == wait_key(kind, arg)) {
    ranks_[number].waits_for = kNothing;
    ready_.push_back(number);
  }
}

template <typename Time>
void TimeOrdered<Time>::send(Time& clock, std::uint32_t message) {
  const std::uint32_t row = row_of(message);
  const MessageCosts& costs = costs_[row];
  messages_[message].row = row;
  clock.add(&Parts::overhead, costs.send);
  if (network_.in_order) {  // also within a host: they share the sender's NIC, and run ahead else
    departs_[message] = clock;
    push(clock.at, EventKind::kDepart, message);
  } else {
    put(clock, message);
  }
}

/// On its way: its data, or the request of a rendezvous.
template <typename Time>
void TimeOrdered<Time>::put(const Time& clock, std::uint32_t number) {
  const MessageCosts& costs = costs_[messages_[number].row];
  if (costs.eager) {
    send_eager(clock, number, costs);
  } else {
    request(clock, number, costs);
  }
}

template <typename Time>
void TimeOrdered<Time>::send_eager(const Time& clock, std::uint32_t number, const MessageCosts& costs) {
  Message& message = messages_[number];
  Rank& rank = ranks_[program_.messages.from[number]];
  message.when = clock;
  raise(message.when, rank.nic);
  rank.nic = message.when;
  if (!costs.flows || !transfers_.share_nic()) {
    rank.nic.add(&Parts::bytes, costs.stretch);
  }
  rank.nic.add(&Parts::waiting, costs.gap);
  message.state = State::kUnderway;
  take_stream(number, costs);
  if (is_live(number)) {
    announce(number, message.when.at + costs.latency);  // its envelope is not held up: none overtakes another
  }
  if (costs.flows) {
    push(message.when.at, EventKind::kBegin, number);
    return;
  }
  travel(number, costs);
}

/// The first byte of what leaves `when` is on its way.
template <typename Time>
void TimeOrdered<Time>::travel(std::uint32_t number, const MessageCosts& costs) {
  Message& message = messages_[number];
  message.when.add(&Parts::latency, costs.way);
  if (network_.receiver_gap) {
    push(message.when.at, EventKind::kArrival, number);
  } else {
    message.when.add(&Parts::bytes, costs.stretch);
    finish(number);
  }
}

/// A rendezvous' request travels to the receiver; its data leave when that has posted the receive and said
/// so.
template <typename Time>
void TimeOrdered<Time>::request(const Time& clock, std::uint32_t number, const MessageCosts& costs) {
  Message& message = messages_[number];
  const bool posted = message.state == State::kPosted;
  const Time post = message.when;
  message.when = clock;
  message.when.add(&Parts::latency, costs.latency);
  message.state = State::kRequested;
  if (!requested_.empty()) {
    requested_[number] = message.when.at;
  }
  if (posted) {
    meet(number, post);
  } else if (is_live(number)) {
    announce(number, message.when.at);
  }
}

template <typename Time>
void TimeOrdered<Time>::post(const Time& clock, std::uint32_t number) {
  if (costs_.all_eager() || costs_[row_of(number)].eager) {
    return;  // the data don't wait for it
  }
  Message& message = messages_[number];
  if (message.state == State::kRequested) {
    meet(number, clock);
  } else {
    message.when = clock;
    message.state = State::kPosted;
  }
}

/// A request and its receive have met at the receiver, which answers when it has seen both.
template <typename Time>
void TimeOrdered<Time>::meet(std::uint32_t number, const Time& posted) {
  Message& message = messages_[number];
  raise(message.when, posted);
  message.state = State::kAgreed;
  if (computing_.empty() && !streams(costs_[message.row])) {
    answer(number);
  } else {
    push(message.when.at, EventKind::kMeet, number);
  }
}

/// The answer travels back, then the data may leave. A request that a library has seen before it is given the
/// receive is answered at once.
template <typename Time>
void TimeOrdered<Time>::answer(std::uint32_t number) {
  Message& message = messages_[number];
  const std::uint32_t from = program_.messages.to[number];
  if (!computing_.empty()) {
    wait_until(message.when, computing_[from].next_call(requested_[number]));
  }
  if (streams(costs_[message.row])) {
    if (message.when.at > now_) {
      return push(message.when.at, EventKind::kMeet, number);
    }
    if (!wait_for_stream(message.when, stream(from, program_.messages.from[number]), EventKind::kMeet,
                         number)) {
      return;
    }
  }
  message.when.add(&Parts::latency, costs_[message.row].latency);
  push(message.when.at, EventKind::kBegin, number);
}

template <typename Time>
void TimeOrdered<Time>::wait_until(Time& time, Picoseconds then) {
  time.add(&Parts::waiting, std::max<Picoseconds>(then - time.at, 0));
}

/// A rendezvous' data may leave, or data begin to flow over the links.
template <typename Time>
void TimeOrdered<Time>::begin(Picoseconds now, std::uint32_t number) {
  if (messages_[number].state == State::kAgreed) {
    Time& when = messages_[number].when;
    if (!computing_.empty()) {
      wait_until(when, computing_[program_.messages.from[number]].next_call(when.at));
    }
    return when.at > now ? push(when.at, EventKind::kBegin, number) : leave(number);
  }
  transfers_.begin(now, number, program_.messages.from[number], program_.messages.to[number],
                   program_.bytes_of(number));
  after_transfers(now);
}

/// The sender's NIC takes the data of a rendezvous when it is through with those before, unless flows share
/// it.
template <typename Time>
void TimeOrdered<Time>::leave(std::uint32_t number) {
  Message& message = messages_[number];
  const MessageCosts& costs = costs_[message.row];
  const std::uint32_t sender = program_.messages.from[number];
  if (streams(costs) && !wait_for_stream(message.when, stream(sender, program_.messages.to[number]),
                                         EventKind::kBegin, number)) {
    return;
  }
  if (!costs.flows || !transfers_.share_nic()) {
    raise(message.when, ranks_[sender].wire);
    ranks_[sender].wire = message.when;
    ranks_[sender].wire.add(&Parts::bytes, costs.stretch);
  }
  message.state = State::kUnderway;
  take_stream(number, costs);
  if (costs.flows) {
    return push(message.when.at, EventKind::kBegin, number);
  }
  left_[number] = ranks_[sender].wire;
  wake(program_.messages.from[number], OpKind::kWaitSend, number);
  travel(number, costs);
}

/// The receiver's NIC takes a message when it is through with those that came before.
template <typename Time>
void TimeOrdered<Time>::serve(std::uint32_t number) {
  Message& message = messages_[number];
  const MessageCosts& costs = costs_[message.row];
  Rank& receiver = ranks_[program_.messages.to[number]];
  raise(message.when, receiver.rnic);
  message.when.add(&Parts::bytes, costs.stretch);
  receiver.rnic = message.when;
  receiver.rnic.add(&Parts::waiting, costs.gap);
  finish(number);
}

template <typename Time>
void TimeOrdered<Time>::finish(std::uint32_t number) {
  Message& message = messages_[number];
  message.state = State::kThere;
  if (!is_live(number)) {
    wake(program_.messages.to[number], OpKind::kWaitRecv, number);
  } else if (bound_[number] != kNone) {
    wake(program_.messages.to[number], OpKind::kWaitLive, bound_[number]);
  }
}

template <typename Time>
bool TimeOrdered<Time>::wait_send(Rank& rank, std::uint32_t number) {
  const Message& message = messages_[number];
  const MessageCosts& costs = costs_[message.row];
  if (costs.eager) {
    return true;  // its bytes are copied: the sender went on at once
  }
  if (message.state < (costs.flows ? State::kThere : State::kUnderway)) {
    return false;
  }
  raise(rank.clock, left_[number]);
  return true;
}

/// Receives that a call waits for together are taken as they come: a library takes what is there. False where
/// one is not there yet.
template <typename Time>
bool TimeOrdered<Time>::wait_receives(Rank& rank) {
  std::uint32_t op = std::max(rank.at, rank.seen);
  for (; op != rank.end && joins_receives(op, rank.at); ++op) {
    if (program_.kind[op] != OpKind::kWaitSend) {
      const std::uint32_t number = received_by(op);
      if (number == kNone || messages_[number].state != State::kThere) {
        rank.seen = op;
        return false;
      }
    }
  }
  received_.clear();
  for (std::uint32_t each = rank.at; each != op; ++each) {
    if (program_.kind[each] != OpKind::kWaitSend) {
      received_.push_back(received_by(each));
    }
  }
  std::sort(received_.begin(), received_.end(),
            [this](std::uint32_t a, std::uint32_t b) { return messages_[a].when.at < messages_[b].when.at; });
  for (const std::uint32_t number : received_) {
    receive(rank, number);
  }
  rank.at = op - 1;
  return true;
}

/// The message that a wait for a receive is for; kNone where that is not known yet.
template <typename Time>
std::uint32_t TimeOrdered<Time>::received_by(std::uint32_t op) const {
  const std::uint32_t arg = program_.arg[op];
  return program_.kind[op] == OpKind::kWaitLive ? live_[arg].message : arg;
}

/// The first, and what is of the same call (of a trace): receives, and sends that nothing has to be waited
/// for.
template <typename Time>
bool TimeOrdered<Time>::joins_receives(std::uint32_t op, std::uint32_t first) const {
  if (op != first && (program_.mark_of(op) != program_.mark_of(first) || program_.mark_of(op) == 0)) {
    return false;
  }
  switch (program_.kind[op]) {
    case OpKind::kWaitRecv:
    case OpKind::kWaitLive:
      return true;
    case OpKind::kWaitSend:
      return costs_[messages_[program_.arg[op]].row].eager;
    default:
      return false;
  }
}

template <typename Time>
void TimeOrdered<Time>::receive(Rank& rank, std::uint32_t number) {
  const Message& message = messages_[number];
  raise(rank.clock, message.when);
  rank.clock.add(&Parts::overhead, costs_[message.row].receive);
}

template <typename Time>
std::vector<Blocked> TimeOrdered<Time>::blocked_ranks() const {
  std::vector<Blocked> blocked;
  for (std::uint32_t r = 0; r < ranks_.size(); ++r) {
    if (ranks_[r].at != ranks_[r].end) {
      blocked.push_back({r, std::max(ranks_[r].at, ranks_[r].seen)});
    }
  }
  return blocked;
}

template <typename Time>
Run TimeOrdered<Time>::result(bool ends) const {
  Run run;
  run.events = events_;
  for (const Rank& rank : ranks_) {
    if (rank.clock.at > run.time) {
      run.time = rank.clock.at;
      run.parts = rank.clock.spent();
    }
    if (ends) {
      run.ends.push_back(rank.clock.at);
    }
  }
  return run;
}

template class TimeOrdered<BareTime>;
template class TimeOrdered<TracedTime>;

}  // namespace wulf::replay
