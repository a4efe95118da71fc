#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "replay/engine_b/computing.hpp"
#include "replay/engine_b/costs.hpp"
#include "replay/engine_b/matching.hpp"
#include "replay/engine_b/queue.hpp"
#include "replay/engine_b/time.hpp"
#include "replay/engine_b/transfers.hpp"
#include "replay/program/program.hpp"
#include "replay/run/network.hpp"
#include "replay/run/run.hpp"

namespace wulf::replay {

[[nodiscard]] constexpr std::uint64_t pair_key(std::uint32_t from, std::uint32_t to) {
  return static_cast<std::uint64_t>(from) << 32U | to;
}

/// One run of a program over a network, in the order of time.
///
/// A rank needs nobody's order while it computes and posts: it runs ahead until it waits for what is not
/// known yet. What several ranks share is taken in the order of time, as events: NICs, a receiver's
/// matching of wildcards, the links. Whatever a rank does after an event happens at the event's time or
/// later, so that nothing comes too late. At one time, ranks run before messages leave, these before messages
/// arrive, and both by the messages' numbers.
template <typename Time>
class TimeOrdered {
 public:
  TimeOrdered(const Program& program, const Network& network);

  [[nodiscard]] Run run(bool ends);

 private:
  /// What an event's key begins with: the order at one time.
  enum class EventKind : std::uint8_t {
    kReady,   ///< of a graph: an operation's dependencies are met
    kServed,  ///< of a graph: a message is there, or has left
    kEnds,
    kDepart,  ///< a send's turn in its stream
    kMeet,
    kBegin,
    kResume,
    kArrival,
    kEnvelope,
    kPost,
    kSettle,
  };

  enum class State : std::uint8_t {
    kUnsent,
    kPosted,     ///< rendezvous: `when` the receive was posted
    kRequested,  ///< rendezvous: `when` the request is at the receiver
    kAgreed,     ///< rendezvous: `when` the sender knows that the receive is posted
    kUnderway,   ///< `when` its first byte is at the receiver, or of a flow, when it leaves the sender
    kThere,      ///< `when` its last byte is at the receiver
  };

  struct Message {
    Time when;
    std::uint32_t row = 0;  ///< of the costs, once it is sent
    State state = State::kUnsent;
  };

  struct Rank {
    Time clock;
    Time nic;
    Time rnic;
    Time wire;             ///< when its sender NIC has done with the data of rendezvous
    std::uint32_t at = 0;  ///< the next operation
    std::uint32_t end = 0;
    std::uint32_t seen = 0;  ///< receives that are waited for together: those before it are there
    std::uint64_t waits_for = kNothing;
  };

  /// What one rank sends another keeps its order, as over one TCP connection.
  struct Stream {
    Time free;                          ///< when the last byte so far has left
    bool flowing = false;               ///< a message of it flows over links: its end is not known yet
    std::deque<std::uint64_t> waiting;  ///< events' keys: for that end
  };

  struct LiveReceive {
    Time posted;
    std::uint32_t message = kNone;
  };

  static constexpr std::uint64_t kNothing = UINT64_MAX;

  [[nodiscard]] static std::uint64_t wait_key(OpKind kind, std::uint32_t arg) {
    return static_cast<std::uint64_t>(kind) << 32U | arg;
  }
  [[nodiscard]] static std::uint64_t event_key(EventKind kind, std::uint32_t arg) {
    return static_cast<std::uint64_t>(kind) << 32U | arg;
  }
  void push(Picoseconds time, EventKind kind, std::uint32_t arg) {
    queue_.push({time, event_key(kind, arg)});
  }
  [[nodiscard]] bool same_host(std::uint32_t message) const {
    return network_.same_host(program_.messages.from[message], program_.messages.to[message]);
  }
  [[nodiscard]] std::uint32_t row_of(std::uint32_t message) const {
    return costs_.row(program_.messages.size[message], same_host(message));
  }

  void drain();
  void take(Event event);
  void check(Picoseconds now) const;
  void run_ready();
  void run_rank(std::uint32_t number);
  [[nodiscard]] bool step(Rank& rank, std::uint32_t number, OpKind kind, std::uint32_t arg);
  void compute(Rank& rank, std::uint32_t number, Picoseconds duration);
  void wake(std::uint32_t number, OpKind kind, std::uint32_t arg);

  void send(Time& clock, std::uint32_t message);
  void put(const Time& clock, std::uint32_t number);
  void send_eager(const Time& clock, std::uint32_t number, const MessageCosts& costs);
  void request(const Time& clock, std::uint32_t number, const MessageCosts& costs);
  void post(const Time& clock, std::uint32_t number);
  void meet(std::uint32_t number, const Time& posted);
  void answer(std::uint32_t number);
  void look(std::uint32_t number);
  static void wait_until(Time& time, Picoseconds then);
  void begin(Picoseconds now, std::uint32_t number);
  void leave(std::uint32_t number);

  [[nodiscard]] bool streams(const MessageCosts& costs) const { return network_.in_order && costs.between; }
  [[nodiscard]] Stream& stream(std::uint32_t from, std::uint32_t to) { return streams_[pair_key(from, to)]; }
  void depart(std::uint32_t number);
  [[nodiscard]] bool wait_for_stream(Time& time, Stream& stream, EventKind kind, std::uint32_t number);
  void take_stream(std::uint32_t number, const MessageCosts& costs);
  void end_stream(std::uint32_t number, const Time& left);
  void travel(std::uint32_t number, const MessageCosts& costs);
  void serve(std::uint32_t number);
  void finish(std::uint32_t number);
  [[nodiscard]] bool wait_send(Rank& rank, std::uint32_t number);
  [[nodiscard]] bool wait_receives(Rank& rank);
  [[nodiscard]] std::uint32_t received_by(std::uint32_t op) const;
  [[nodiscard]] bool joins_receives(std::uint32_t op, std::uint32_t first) const;
  void receive(Rank& rank, std::uint32_t number);

  [[nodiscard]] bool is_live(std::uint32_t message) const {
    return !bound_.empty() && program_.messages.recv_op[message] == kNone;
  }
  void announce(std::uint32_t message, Picoseconds first);
  void arrive(std::uint32_t message);
  void post_live(std::uint32_t number, std::uint32_t receive);
  void bind(std::uint32_t receive, std::uint32_t number);

  void end_transfers(Picoseconds now);
  void settle_transfers(Picoseconds now);
  void after_transfers(Picoseconds now);
  void deliver(std::uint32_t number, Picoseconds now);

  void start_graph();
  void operate(std::uint32_t op);
  void serve_operation(std::uint32_t op);
  void announce_service(OpKind kind, std::uint32_t arg);
  [[nodiscard]] std::uint32_t message_of(std::uint32_t op) const;
  void begun(std::uint32_t op, const Time& time);
  void ended(std::uint32_t op, const Time& time);
  void met(std::uint32_t op, const Time& time);

  [[nodiscard]] std::vector<Blocked> blocked_ranks() const;
  [[nodiscard]] std::vector<Blocked> blocked_operations() const;
  [[nodiscard]] Run result(bool ends) const;

  const Program& program_;
  const Network& network_;
  Transfers transfers_;
  CostTable costs_;
  EventQueue queue_;
  std::uint64_t events_ = 0;  ///< taken so far
  Picoseconds now_ = 0;       ///< of the latest one
  std::vector<Rank> ranks_;
  std::vector<Computing> computing_;    ///< by rank; empty where messages get on all the same
  std::vector<Picoseconds> requested_;  ///< by message: when its request came; empty as well
  std::vector<Message> messages_;
  std::vector<Time> left_;  ///< by message: a rendezvous' last byte has left; empty where all are eager
  std::vector<std::uint32_t> ready_;

  std::vector<Time> departs_;  ///< by message: when it was sent; empty where pairs are no streams
  std::unordered_map<std::uint64_t, Stream> streams_;  ///< by pair

  std::vector<LiveReceive> live_;
  std::vector<std::uint32_t> live_rank_;                      ///< of each live receive
  std::vector<std::uint32_t> bound_;                          ///< by message: its live receive
  std::unordered_map<std::uint32_t, LiveMatching> matching_;  ///< by rank
  std::unordered_map<std::uint64_t, Picoseconds> announced_;  ///< by pair: its latest envelope

  /// An operation of the graph.
  struct Operation {
    Time ready;               ///< when its dependencies were met
    std::uint32_t needs = 0;  ///< dependencies that are not
    bool posted = false;
    bool ended = false;
  };
  std::vector<Operation> operations_;  ///< of the graph; empty where ranks are sequences
  std::vector<Time> cpus_;             ///< of the graph: when each is free

  bool settling_ = false;         ///< an event kSettle is in the queue
  Picoseconds ends_at_ = kNever;  ///< the earliest event kEnds in the queue
  std::vector<std::uint32_t> through_;
  std::vector<std::uint32_t> received_;
  std::vector<Transfers::Pause> pauses_;
};

extern template class TimeOrdered<BareTime>;
extern template class TimeOrdered<TracedTime>;

}  // namespace wulf::replay
