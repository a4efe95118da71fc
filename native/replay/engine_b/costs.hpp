#pragma once

#include <cstdint>
#include <vector>

#include "replay/program/program.hpp"
#include "replay/run/network.hpp"

namespace wulf::replay {

/// What a message of a size costs on a class of links.
struct MessageCosts {
  Picoseconds send;     ///< the sender's CPU: os + Os·n
  Picoseconds receive;  ///< or + Or·n
  Picoseconds stretch;  ///< e(n)
  Picoseconds latency;  ///< of what carries no data
  Picoseconds way;      ///< of the data's first byte
  Picoseconds gap;
  bool eager;
  bool between;  ///< hosts
  bool flows;    ///< above the limit, and between hosts: Transfers has it
};

/// The costs of all sizes of a program's messages, computed once.
class CostTable {
 public:
  /// `takes(bytes)`: whether a message between hosts flows.
  template <typename Takes>
  CostTable(const Program& program, const Network& network, const Takes& takes)
      : sizes_(program.sizes.size()) {
    for (const LinkClass* costs : {&network.inter, &network.intra}) {
      const bool between = costs == &network.inter;
      for (std::size_t size = 0; size < program.sizes.size(); ++size) {
        const std::uint64_t n = program.sizes[size];
        const Picoseconds connect = between ? program.connect_of(size) : 0;
        const bool eager = n <= costs->eager_bytes;
        all_eager_ = all_eager_ && eager;
        rows_.push_back({costs->send + connect + mul(costs->send_byte_fp, n),
                         costs->receive + mul(costs->receive_byte_fp, n), costs->stretch(n), costs->latency,
                         costs->way(n), costs->gap, eager, between, between && takes(n)});
      }
    }
  }

  [[nodiscard]] std::uint32_t row(std::uint32_t size, bool same_host) const {
    return static_cast<std::uint32_t>(size + (same_host ? sizes_ : 0));
  }
  [[nodiscard]] const MessageCosts& operator[](std::uint32_t row) const { return rows_[row]; }
  /// No size of the program waits for its receive.
  [[nodiscard]] bool all_eager() const { return all_eager_; }

 private:
  std::size_t sizes_;
  bool all_eager_ = true;
  std::vector<MessageCosts> rows_;
};

}  // namespace wulf::replay
