#include "replay/engine_a/critical_path.hpp"

#include <algorithm>
#include <array>

namespace wulf::replay {

template <typename Time>
Time CriticalPath<Time>::before(std::uint32_t op) const {
  return op == program_.first[rank_] ? Time{0} : space_.end(op - 1);
}

template <typename Time>
const Cost<Time>& CriticalPath<Time>::cost(std::uint32_t message) const {
  return space_.cost(classes_.of(message));
}

template <typename Time>
void CriticalPath<Time>::start() {
  at_ = space_.time();
  rank_ = 0;
  while (space_.clock(rank_) != at_) {
    ++rank_;
  }
  next_ = program_.first[rank_ + 1];
}

template <typename Time>
void CriticalPath<Time>::emit(StepKind kind, std::uint32_t message, Time takes) {
  visit_({kind, rank_, op_, message, at_ - takes, at_});
  at_ -= takes;
}

template <typename Time>
void CriticalPath<Time>::go_to(std::uint32_t rank, std::uint32_t op) {
  rank_ = rank;
  next_ = op + 1;
}

template <typename Time>
void CriticalPath<Time>::back(std::uint32_t op) {
  op_ = op;
  switch (program_.kind[op]) {
    case OpKind::kCalc:
      emit(StepKind::kCompute, kNone, space_.end(op) - before(op));
      return;
    case OpKind::kSend:
      emit(StepKind::kOverhead, program_.arg[op], space_.end(op) - before(op));
      return;
    case OpKind::kWaitSend:
      back_over_wait_sent(op);
      return;
    case OpKind::kWaitRecv:
      back_over_wait_received(op);
      return;
    default:
      return;  // posting a receive takes no time
  }
}

template <typename Time>
void CriticalPath<Time>::back_over_wait_sent(std::uint32_t op) {
  const std::uint32_t message = program_.arg[op];
  if (space_.end(op) == before(op)) {
    return;
  }
  emit(StepKind::kBytes, message, cost(message).stretch);
  back_over_rendezvous(back_over_data(message, op));
}

/// When a rendezvous' data may leave.
template <typename Time>
Time CriticalPath<Time>::agreed(std::uint32_t message) const {
  return std::max(space_.sent(message), space_.posted(message)) + cost(message).latency;
}

/// When a message's first byte is at the receiver.
template <typename Time>
Time CriticalPath<Time>::first_byte(std::uint32_t message) const {
  const Cost<Time>& k = cost(message);
  return k.any_rendezvous ? agreed(message) + k.way : space_.sent(message);
}

/// Back through the rendezvous whose data the sender's NIC took one behind the other; the first of them.
template <typename Time>
std::uint32_t CriticalPath<Time>::back_over_data(std::uint32_t message, std::uint32_t op) {
  while (at_ != agreed(message)) {
    do {
      --op;
    } while (program_.kind[op] != OpKind::kWaitSend || !cost(program_.arg[op]).any_rendezvous);
    message = program_.arg[op];
    emit(StepKind::kBytes, message, cost(message).stretch);
  }
  return message;
}

/// From where a rendezvous' data may leave, by the answer's way, to the later of sender and receiver.
template <typename Time>
void CriticalPath<Time>::back_over_rendezvous(std::uint32_t message) {
  emit(StepKind::kLatency, message, cost(message).latency);
  if (space_.sent(message) == at_) {
    emit(StepKind::kLatency, message, cost(message).latency);
    go_to(program_.messages.from[message], program_.messages.send_op[message]);
  } else {
    go_to(program_.messages.to[message], program_.messages.recv_op[message]);
  }
}

template <typename Time>
void CriticalPath<Time>::back_over_wait_received(std::uint32_t op) {
  const std::uint32_t message = program_.arg[op];
  const Cost<Time>& k = cost(message);
  emit(StepKind::kOverhead, message, k.receive);
  if (at_ == before(op)) {
    return;
  }
  emit(StepKind::kBytes, message, k.stretch);
  const std::uint32_t cause = back_over_receiver(message, op);
  emit(StepKind::kLatency, cause, cost(cause).way);
  if (cost(cause).any_rendezvous) {
    back_over_rendezvous(cause);
  } else {
    back_over_sender(cause);
  }
}

/// The message that the receiver's NIC served before operation `op`, which becomes its wait.
template <typename Time>
std::uint32_t CriticalPath<Time>::served_before(std::uint32_t& op) const {
  do {
    --op;
  } while (program_.kind[op] != OpKind::kWaitRecv);
  return program_.arg[op];
}

/// Back through the messages that the receiver's NIC took one behind the other; the first of them.
template <typename Time>
std::uint32_t CriticalPath<Time>::back_over_receiver(std::uint32_t message, std::uint32_t op) {
  while (at_ != first_byte(message)) {
    message = served_before(op);
    const Cost<Time>& k = cost(message);
    emit(StepKind::kWaiting, message, k.gap_stretch - k.stretch);
    emit(StepKind::kBytes, message, k.stretch);
  }
  return message;
}

/// Back through the messages that stood before this one at the sender's NIC, to the sender's CPU.
template <typename Time>
void CriticalPath<Time>::back_over_sender(std::uint32_t message) {
  const Messages& messages = program_.messages;
  rank_ = messages.from[message];
  op_ = messages.send_op[message];
  while (at_ != space_.end(messages.send_op[message])) {
    do {
      --message;  // messages are numbered by sender and time
    } while (cost(message).any_rendezvous);
    const Cost<Time>& k = cost(message);
    emit(StepKind::kWaiting, message, k.gap_stretch - k.stretch);
    emit(StepKind::kBytes, message, k.stretch);
  }
  go_to(messages.from[message], messages.send_op[message]);
}

template class CriticalPath<Lanes1>;
template class CriticalPath<Fine>;

Parts parts_of(const Program& program, const CostClasses& classes, const Workspace<Lanes1>& space) {
  Parts parts;
  CriticalPath<Lanes1>(program, classes, space).walk([&parts](const Step<Lanes1>& step) {
    const std::array places{&parts.compute, &parts.latency, &parts.bytes, &parts.overhead, &parts.waiting};
    *places.at(static_cast<std::size_t>(step.kind)) += step.end - step.begin;
  });
  return parts;
}

}  // namespace wulf::replay
