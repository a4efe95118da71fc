#include <algorithm>

#include "replay/engine_b/replay.hpp"

// Receives that are matched as the program runs.

namespace wulf::replay {

/// A message is seen by its receiver at `first`, but never before those that its sender sent it earlier
/// (non-overtaking: MPI 4.1, section 3.5): a request needs no NIC, and could be faster than the data before
/// it.
template <typename Time>
void TimeOrdered<Time>::announce(std::uint32_t message, Picoseconds first) {
  const Messages& messages = program_.messages;
  Picoseconds& latest = announced_[pair_key(messages.from[message], messages.to[message])];
  latest = std::max(latest, first);
  if (messages_[message].state == State::kRequested) {
    messages_[message].when.add(&Parts::waiting, latest - first);
  }
  push(latest, EventKind::kEnvelope, message);
}

template <typename Time>
void TimeOrdered<Time>::arrive(std::uint32_t message) {
  const Messages& messages = program_.messages;
  const Envelope envelope{messages.from[message], messages.tag[message]};
  if (const auto receive = matching_[messages.to[message]].arrive(envelope, message)) {
    bind(*receive, message);
  }
}

template <typename Time>
void TimeOrdered<Time>::post_live(std::uint32_t number, std::uint32_t receive) {
  const Envelope wanted{program_.live.peer[receive], program_.live.tag[receive]};
  if (const auto message = matching_[number].post(wanted, receive)) {
    bind(receive, *message);
  }
}

template <typename Time>
void TimeOrdered<Time>::bind(std::uint32_t receive, std::uint32_t number) {
  live_[receive].message = number;
  bound_[number] = receive;
  const Message& message = messages_[number];
  if (message.state == State::kRequested) {
    meet(number, live_[receive].posted);
  } else if (message.state == State::kThere) {
    wake(live_rank_[receive], OpKind::kWaitLive, receive);
  }
}

template void TimeOrdered<BareTime>::announce(std::uint32_t, Picoseconds);
template void TimeOrdered<BareTime>::arrive(std::uint32_t);
template void TimeOrdered<BareTime>::post_live(std::uint32_t, std::uint32_t);
template void TimeOrdered<BareTime>::bind(std::uint32_t, std::uint32_t);
template void TimeOrdered<TracedTime>::announce(std::uint32_t, Picoseconds);
template void TimeOrdered<TracedTime>::arrive(std::uint32_t);
template void TimeOrdered<TracedTime>::post_live(std::uint32_t, std::uint32_t);
template void TimeOrdered<TracedTime>::bind(std::uint32_t, std::uint32_t);

}  // namespace wulf::replay
