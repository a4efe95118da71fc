#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "core/json/json.hpp"
#include "replay/program/fixed_point.hpp"
#include "replay/program/operation.hpp"

namespace wulf::replay {

/// LogGOPS's parameters between two ranks.
struct LinkClass {
  Picoseconds latency = 0;           ///< L
  Picoseconds send = 0;              ///< os: the sender's CPU, a message
  Picoseconds receive = 0;           ///< or
  Picoseconds gap = 0;               ///< g: the NIC, a message
  std::int64_t byte_fp = 0;          ///< G: the NIC, a byte
  std::int64_t send_byte_fp = 0;     ///< Os: the sender's CPU, a byte
  std::int64_t receive_byte_fp = 0;  ///< Or
  std::int64_t packet_byte_fp = 0;   ///< how much later the first byte comes, a byte of the first packet
  std::int64_t packet_bytes = 0;     ///< the longest packet: of longer messages no more is stored at a time
  std::uint64_t eager_bytes = UINT64_MAX;  ///< S: larger messages wait for their receive
  std::int64_t eager_more_fp = 0;  ///< by how much more than G, or less, a byte of those up to S takes

  /// What a byte of a message of n takes.
  [[nodiscard]] std::int64_t per_byte(std::uint64_t n) const {
    return n > eager_bytes ? byte_fp : std::max<std::int64_t>(byte_fp + eager_more_fp, 0);
  }
  /// e(n): how long the last byte of n comes after the first.
  [[nodiscard]] std::int64_t stretch(std::uint64_t n) const { return n == 0 ? 0 : mul(per_byte(n), n - 1); }

  /// Bytes that are stored before they are forwarded, where nothing else can be sent meanwhile.
  [[nodiscard]] std::uint64_t stored(std::uint64_t n) const {
    return std::min(n, static_cast<std::uint64_t>(packet_bytes));
  }
  /// How long the first byte of n is on its way.
  [[nodiscard]] Picoseconds way(std::uint64_t n) const { return latency + mul(packet_byte_fp, stored(n)); }
};

/// A network that a program is replayed on.
struct Network {
  std::string name;
  LinkClass inter;                   ///< between hosts
  LinkClass intra;                   ///< within a host; a rank with itself is within one
  bool own_intra = false;            ///< `intra` was given; else it is `inter`, and varies with it
  std::vector<std::uint32_t> hosts;  ///< of each rank; empty: all differ
  bool receiver_gap = true;          ///< a receiver's NIC takes one message at a time
  Json topology;                     ///< null: none. Engine B alone
  bool shared_nic = false;           ///< flows of one sender share its NIC, unless its topology says else
  bool progress = true;   ///< rendezvous get on while ranks compute; else in calls alone. Engine B alone
  bool in_order = false;  ///< between hosts, what one rank sends another leaves in order, a rendezvous'
                          ///< request and answer too. Engine B alone
  Json slow_start;        ///< null: none. Engine B alone

  [[nodiscard]] bool same_host(std::uint32_t a, std::uint32_t b) const {
    return a == b || (!hosts.empty() && hosts[a] == hosts[b]);
  }
  [[nodiscard]] const LinkClass& between(std::uint32_t a, std::uint32_t b) const {
    return same_host(a, b) ? intra : inter;
  }
};

/// The network of a request, for a program of so many ranks. Throws bad-parameter that names the field.
[[nodiscard]] Network parse_network(const Json& json, std::uint32_t ranks);

/// The request's `network`. Errors as parse_network.
[[nodiscard]] Network network_field(const Json& request, std::uint32_t ranks);

/// All networks of a request's `networks`. Errors as parse_network.
[[nodiscard]] std::vector<Network> parse_networks(const Json& request, std::uint32_t ranks);

}  // namespace wulf::replay
