#include "replay/engine_b/replay.hpp"

// Pairs of ranks whose messages keep their order, as over one TCP connection: a rendezvous' request and its
// answer wait for the data that were sent before them. Open MPI 4.1 over TCP, two ranks that exchange 64 KiB:
// whoever is a latency late answers behind its own data, so that the two ways take their turns.

namespace wulf::replay {

/// A send's turn.
template <typename Time>
void TimeOrdered<Time>::depart(std::uint32_t number) {
  Time& time = departs_[number];
  if (!streams(costs_[messages_[number].row]) ||
      wait_for_stream(time, stream(program_.messages.from[number], program_.messages.to[number]),
                      EventKind::kDepart, number)) {
    put(time, number);
  }
}

/// To when what was sent before has left. False where that is not known yet: the event is taken then.
template <typename Time>
bool TimeOrdered<Time>::wait_for_stream(Time& time, Stream& stream, EventKind kind, std::uint32_t number) {
  if (stream.flowing) {
    stream.waiting.push_back(event_key(kind, number));
    return false;
  }
  raise(time, stream.free);
  return true;
}

/// A message's data leave from `when` on.
template <typename Time>
void TimeOrdered<Time>::take_stream(std::uint32_t number, const MessageCosts& costs) {
  if (!streams(costs)) {
    return;
  }
  Stream& taken = stream(program_.messages.from[number], program_.messages.to[number]);
  taken.flowing = costs.flows;
  taken.free = messages_[number].when;
  taken.free.add(&Parts::bytes, costs.stretch);
}

/// The last byte of a message that flows has left.
template <typename Time>
void TimeOrdered<Time>::end_stream(std::uint32_t number, const Time& left) {
  if (!streams(costs_[messages_[number].row])) {
    return;
  }
  Stream& ended = stream(program_.messages.from[number], program_.messages.to[number]);
  ended.flowing = false;
  ended.free = left;
  while (!ended.flowing && !ended.waiting.empty()) {
    const std::uint64_t next = ended.waiting.front();
    ended.waiting.pop_front();
    take({now_, next});
  }
}

template void TimeOrdered<BareTime>::depart(std::uint32_t);
template bool TimeOrdered<BareTime>::wait_for_stream(BareTime&, Stream&, EventKind, std::uint32_t);
template void TimeOrdered<BareTime>::take_stream(std::uint32_t, const MessageCosts&);
template void TimeOrdered<BareTime>::end_stream(std::uint32_t, const BareTime&);
template void TimeOrdered<TracedTime>::depart(std::uint32_t);
template bool TimeOrdered<TracedTime>::wait_for_stream(TracedTime&, Stream&, EventKind, std::uint32_t);
template void TimeOrdered<TracedTime>::take_stream(std::uint32_t, const MessageCosts&);
template void TimeOrdered<TracedTime>::end_stream(std::uint32_t, const TracedTime&);

}  // namespace wulf::replay
