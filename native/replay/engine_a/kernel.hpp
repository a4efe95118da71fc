#pragma once

#include "replay/engine_a/lanes.hpp"

namespace wulf::replay {

/// Engine A's inner loop. `Isa` is a type of the including file's own, so that each instruction set has its
/// own copy of every function here.
///
/// A rank runs until it waits for what is not yet sent; whoever sends it puts the rank into the queue again.
/// Times depend on the messages alone, never on the order of ranks.
template <typename Isa, typename V, bool kRendezvous, bool kDetailed>
class Kernel {
 public:
  static void run(Pass<V>& pass) {
    Kernel kernel(pass);
    for (std::uint32_t rank = 0; rank < pass.ranks; ++rank) {
      kernel.advance(rank);
    }
    while (kernel.waiting_ != 0) {
      kernel.advance(kernel.take());
    }
  }

 private:
  static constexpr bool kVector = kLanes<V> > 1;

  explicit Kernel(Pass<V>& pass) : pass_(pass) {}

  static std::int64_t lowest(const V& v) {
    if constexpr (kVector) {
      return v[0];
    } else {
      return v < 0 ? static_cast<std::int64_t>(v) : 0;
    }
  }
  static void mark(V& v, std::int64_t value) {
    if constexpr (kVector) {
      v[0] = value;
    } else {
      v = value;
    }
  }
  /// All bits set where the condition holds.
  template <typename C>
  static V mask(const C& condition) {
    if constexpr (kVector) {
      return condition;
    } else {
      return -static_cast<V>(condition);
    }
  }
  static V lasting(Picoseconds duration) {
    if constexpr (sizeof(V) == sizeof(Fine)) {
      return static_cast<V>(duration) << kFineBits;
    } else {
      return V{} + duration;
    }
  }
  static V larger(const V& a, const V& b) { return a > b ? a : b; }
  static V choose(const V& where, const V& a, const V& b) { return (where & a) | (~where & b); }

  [[nodiscard]] const Cost<V>& cost(std::uint32_t message) const {
    return pass_.costs[pass_.classes == nullptr ? 0 : pass_.classes[message]];
  }

  void put(std::uint32_t rank) {
    std::uint32_t place = head_ + waiting_;
    place -= place >= pass_.ranks ? pass_.ranks : 0;
    pass_.ready[place] = rank;
    ++waiting_;
  }
  std::uint32_t take() {
    const std::uint32_t rank = pass_.ready[head_];
    head_ = head_ + 1 == pass_.ranks ? 0 : head_ + 1;
    --waiting_;
    return rank;
  }

  /// Runs a rank as far as it gets.
  void advance(std::uint32_t rank) {
    std::uint32_t op = pass_.position[rank];
    const std::uint32_t end = pass_.first[rank + 1];
    // Only ranks that had to wait have a state in memory: most passes move little else than messages.
    RankState<V> state = op == pass_.first[rank] ? fresh() : pass_.state[rank];
    while (op < end && step(state, op)) {
      if constexpr (kDetailed) {
        pass_.end[op] = state.clock;
      }
      ++op;
    }
    pass_.position[rank] = op;
    if (op < end) {
      pass_.state[rank] = state;
      return;
    }
    pass_.time = larger(pass_.time, state.clock);
    if (pass_.ends != nullptr) {
      pass_.ends[rank] = state.clock;
    }
  }

  static RankState<V> fresh() {
    const V nothing = V{} + kUnknown;
    return {V{}, V{}, V{}, nothing, nothing};
  }

  /// False where the rank can't go on yet.
  bool step(RankState<V>& state, std::uint32_t op) {
    const std::uint32_t arg = pass_.arg[op];
    switch (pass_.kind[op]) {
      case OpKind::kCalc:
        state.clock += lasting(pass_.durations[arg]);
        return true;
      case OpKind::kSend:
        send(state, arg);
        return true;
      case OpKind::kRecv:
        post(state, arg);
        return true;
      case OpKind::kWaitSend:
        return wait_sent(state, arg);
      case OpKind::kWaitRecv:
        return wait_received(state, arg);
      default:
        return false;  // live receives, which the caller refuses beforehand
    }
  }

  void send(RankState<V>& state, std::uint32_t message) {
    const Cost<V>& k = cost(message);
    state.clock += k.send;
    V leaves = larger(state.clock, state.nic);
    V free = leaves + k.gap_stretch;
    V way = k.way;
    if (kRendezvous && k.any_rendezvous) {
      leaves = choose(k.rendezvous, state.clock, leaves);
      free = choose(k.rendezvous, state.nic, free);
      way = choose(k.rendezvous, k.latency, way);
    }
    state.nic = free;
    tell(pass_.sent[message], leaves + way, pass_.to, message);
  }

  void post(RankState<V>& state, std::uint32_t message) {
    if constexpr (kRendezvous) {
      if (cost(message).any_rendezvous) {
        tell(pass_.posted[message], state.clock, pass_.from, message);
      }
    }
  }

  /// Writes a time, and wakes the rank that waits for it.
  void tell(V& place, const V& time, const std::uint32_t* who, std::uint32_t message) {
    const bool awaited = lowest(place) == kAwaited;
    place = time;
    if (__builtin_expect(static_cast<long>(awaited), 0) != 0) {
      put(who[message]);
    }
  }

  static bool known(V& place) {
    if (__builtin_expect(static_cast<long>(lowest(place) >= 0), 1) != 0) {
      return true;
    }
    mark(place, kAwaited);
    return false;
  }

  bool wait_sent(RankState<V>& state, std::uint32_t message) {
    if constexpr (kRendezvous) {
      const Cost<V>& k = cost(message);
      if (k.any_rendezvous) {
        if (!known(pass_.posted[message])) {
          return false;
        }
        state.clock = larger(state.clock, send_data(message, k) & k.rendezvous);
      }
    }
    return true;  // an eager send was done when it was posted
  }

  /// When a rendezvous' data may leave: the answer to its request is there.
  [[nodiscard]] V agreed(std::uint32_t message, const Cost<V>& k) const {
    return larger(pass_.sent[message], pass_.posted[message]) + k.latency;
  }

  /// The sender's NIC takes the data that the rank waits for; when it has done.
  V send_data(std::uint32_t message, const Cost<V>& k) {
    Sending<V>& sending = pass_.sending[pass_.from[message]];
    const V leaves = agreed(message, k);
    const V number = V{} + static_cast<std::int64_t>(message);
    const V late = mask(leaves < sending.free) | (mask(leaves == sending.free) & mask(number < sending.last));
    const V done = larger(leaves, sending.free) + k.stretch;
    pass_.inversions -= late & k.rendezvous;
    sending.free = choose(k.rendezvous, done, sending.free);
    sending.last = choose(k.rendezvous, number, sending.last);
    return done;
  }

  bool wait_received(RankState<V>& state, std::uint32_t message) {
    V& sent = pass_.sent[message];
    if (!known(sent)) {
      return false;
    }
    const Cost<V>& k = cost(message);
    V first = sent;
    if constexpr (!kRendezvous && !kDetailed) {
      mark(sent, kUnknown);  // nobody else reads it: the next pass finds `sent` as this one did
    }
    if (kRendezvous && k.any_rendezvous) {
      first = choose(k.rendezvous, agreed(message, k) + k.way, first);
    }
    state.clock = larger(state.clock, serve(state, message, first, k)) + k.receive;
    return true;
  }

  /// The receiver's NIC takes a message; when it has the last byte.
  V serve(RankState<V>& state, std::uint32_t message, const V& first, const Cost<V>& k) {
    const V begin = larger(first, state.rnic);
    const V& takes = pass_.receiver_gap;
    const V number = V{} + static_cast<std::int64_t>(message);
    const V late = mask(first < state.first) | (mask(first == state.first) & mask(number < state.last));
    pass_.inversions -= late & takes;
    const V newest = takes & ~late;
    state.first = choose(newest, first, state.first);
    state.last = choose(newest, number, state.last);
    state.rnic = choose(takes, begin + k.gap_stretch, state.rnic);
    return begin + k.stretch;
  }

  Pass<V>& pass_;
  std::uint32_t head_ = 0;
  std::uint32_t waiting_ = 0;
};

/// Of the four kinds of passes, the one asked for.
template <typename Isa, typename V>
[[nodiscard]] PassFunction<V> kernel_of(PassKind kind) {
  if (kind.detailed) {
    return kind.rendezvous ? Kernel<Isa, V, true, true>::run : Kernel<Isa, V, false, true>::run;
  }
  return kind.rendezvous ? Kernel<Isa, V, true, false>::run : Kernel<Isa, V, false, false>::run;
}

}  // namespace wulf::replay
