#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "replay/program/array.hpp"
#include "replay/program/operation.hpp"
#include "replay/program/operation_graph.hpp"

namespace wulf::replay {

/// Messages in the order of their sends: rank by rank, and within a rank as they are posted. One array a
/// field.
struct Messages {
  Array<std::uint32_t> from;
  Array<std::uint32_t> to;
  Array<std::uint32_t> size;  ///< an index of `Program::sizes`
  Array<std::uint64_t> tag;
  Array<std::uint32_t> send_op;  ///< of all ranks' operations, the one that posts the send
  Array<std::uint32_t> recv_op;  ///< … the receive; kNone where it is matched live

  [[nodiscard]] std::size_t count() const { return from.size(); }
};

/// Receives whose message is known only as the program runs: all of those ranks that have a wildcard.
struct LiveReceives {
  Array<std::uint32_t> peer;  ///< kAnyPeer: whoever sends
  Array<std::uint64_t> tag;   ///< kAnyTag: whatever the tag

  [[nodiscard]] std::size_t count() const { return peer.size(); }
};

/// What all ranks do, with every message matched: the k-th send from i to j with a tag is the k-th receive at
/// j from i of that tag.
///
/// Rank r's operations are those from first[r] up to first[r + 1]. Sends and receives only post; a wait names
/// its message.
struct Program {
  Array<std::uint32_t> first;  ///< ranks + 1 places
  Array<OpKind> kind;
  Array<std::uint32_t> arg;
  Array<std::uint32_t> mark;  ///< records of the trace by operation; empty where there are none
  Array<Picoseconds> durations;
  Array<std::uint64_t> sizes;  ///< the distinct sizes of messages, in bytes
  /// From this size on, those before again: of messages whose sender first has to connect, for `connect`,
  /// where they go to another host.
  std::uint32_t connecting = kNone;
  Picoseconds connect = 0;
  Messages messages;
  LiveReceives live;
  OperationGraph graph;  ///< empty where ranks do one thing after the other, as the sequences say

  [[nodiscard]] std::uint32_t ranks() const { return static_cast<std::uint32_t>(first.size() - 1); }
  [[nodiscard]] std::size_t ops() const { return kind.size(); }
  [[nodiscard]] std::uint64_t bytes_of(std::uint32_t message) const { return sizes[messages.size[message]]; }
  /// What connecting adds to a message of that size (an index of `sizes`).
  [[nodiscard]] Picoseconds connect_of(std::size_t size) const { return size >= connecting ? connect : 0; }
  [[nodiscard]] std::uint32_t mark_of(std::uint32_t op) const { return mark.empty() ? 0 : mark[op]; }
  /// The rank whose operation it is; in logarithmic time.
  [[nodiscard]] std::uint32_t rank_of(std::uint32_t op) const;
  /// For people: "operation 17 (record 9): wait for the receive of 8 B from rank 3 with tag 5", numbered
  /// within the rank.
  [[nodiscard]] std::string describe(std::uint32_t op) const;
  /// Bytes of all messages.
  [[nodiscard]] std::uint64_t total_bytes() const;
  /// All ranks' computing together.
  [[nodiscard]] double compute_seconds() const;
};

}  // namespace wulf::replay
