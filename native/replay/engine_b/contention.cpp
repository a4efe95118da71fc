#include <algorithm>

#include "replay/engine_b/replay.hpp"

// Messages that flow over links, or in TCP's windows: what becomes of them is known as they end.

namespace wulf::replay {

template <typename Time>
void TimeOrdered<Time>::end_transfers(Picoseconds now) {
  if (now == ends_at_) {
    ends_at_ = kNever;
  }
  through_.clear();
  pauses_.clear();
  transfers_.end(now, through_, pauses_);
  // taken together, of ends at one time each is an event
  events_ += std::max<std::size_t>(through_.size() + pauses_.size(), 1) - 1;
  for (const std::uint32_t message : through_) {
    deliver(message, now);
  }
  for (const Transfers::Pause& pause : pauses_) {
    push(pause.until, EventKind::kResume, pause.transfer);
  }
  after_transfers(now);
}

template <typename Time>
void TimeOrdered<Time>::settle_transfers(Picoseconds now) {
  settling_ = false;
  transfers_.settle(now);
  after_transfers(now);
}

/// Shares are computed once for all that changes at one time, after everything else of that time.
template <typename Time>
void TimeOrdered<Time>::after_transfers(Picoseconds now) {
  if (transfers_.changed()) {
    if (!settling_) {
      settling_ = true;
      push(now, EventKind::kSettle, 0);
    }
    return;
  }
  const Picoseconds next = transfers_.next();
  if (next < ends_at_) {
    ends_at_ = next;
    push(next, EventKind::kEnds, 0);
  }
}

/// The last byte leaves at `now`, and is there a latency later; but never sooner than G allows.
template <typename Time>
void TimeOrdered<Time>::deliver(std::uint32_t number, Picoseconds now) {
  Message& message = messages_[number];
  const MessageCosts& costs = costs_[message.row];
  message.when.add(&Parts::bytes, costs.stretch);
  message.when.add(&Parts::waiting, std::max<Picoseconds>(now - message.when.at, 0));
  if (!costs.eager) {
    left_[number] = message.when;
    wake(program_.messages.from[number], OpKind::kWaitSend, number);
  }
  end_stream(number, message.when);
  message.when.add(&Parts::latency, costs.way);
  finish(number);
}

template void TimeOrdered<BareTime>::end_transfers(Picoseconds);
template void TimeOrdered<BareTime>::settle_transfers(Picoseconds);
template void TimeOrdered<BareTime>::after_transfers(Picoseconds);
template void TimeOrdered<BareTime>::deliver(std::uint32_t, Picoseconds);
template void TimeOrdered<TracedTime>::end_transfers(Picoseconds);
template void TimeOrdered<TracedTime>::settle_transfers(Picoseconds);
template void TimeOrdered<TracedTime>::after_transfers(Picoseconds);
template void TimeOrdered<TracedTime>::deliver(std::uint32_t, Picoseconds);

}  // namespace wulf::replay
