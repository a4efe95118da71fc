#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "replay/engine_b/flows.hpp"
#include "replay/engine_b/slow_start.hpp"
#include "replay/run/network.hpp"
#include "replay/topology/topology.hpp"

namespace wulf::replay {

/// Messages whose time on the wire is not the network's G alone: flows over a topology, windows of TCP, or
/// both. One flow a round of slow start, one for all the rest.
class Transfers {
 public:
  /// Neither a topology nor slow start: it takes no message. Throws bad-parameter as make_topology and
  /// parse_slow_start do.
  Transfers(const Network& network, std::uint32_t ranks);

  [[nodiscard]] bool any() const { return limit_ != UINT64_MAX; }
  /// Whether a message between hosts is one of them: those above a size.
  [[nodiscard]] bool takes(std::uint64_t bytes) const { return bytes > limit_; }

  /// Whether a sender's NIC has several of them underway at once, and their links alone hold them back.
  [[nodiscard]] bool share_nic() const { return share_nic_; }

  /// A message between hosts begins to flow.
  void begin(Picoseconds now, std::uint32_t message, std::uint32_t from, std::uint32_t to,
             std::uint64_t bytes);

  /// The next round of a transfer that waited for it: `slot` is as end() gave it.
  void resume(Picoseconds now, std::uint32_t slot);

  /// When a transfer's next round begins.
  struct Pause {
    Picoseconds until;
    std::uint32_t transfer;
  };

  /// Ends what ends now: appends messages that are through, and transfers that wait.
  void end(Picoseconds now, std::vector<std::uint32_t>& through, std::vector<Pause>& pauses);

  [[nodiscard]] bool changed() const { return flows_->changed(); }
  void settle(Picoseconds now) { flows_->settle(now); }
  /// When end() is to be called next; kNever where nothing flows.
  [[nodiscard]] Picoseconds next() { return flows_->next(); }

 private:
  struct Transfer {
    std::vector<LinkId> path;
    std::uint64_t left = 0;  ///< bytes that have not begun to flow
    std::uint64_t window = 0;
    std::uint64_t fastest = 0;  ///< the rate that G allows
    Picoseconds round_end = 0;  ///< no round is shorter than a round trip
    std::uint32_t message = 0;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
  };

  [[nodiscard]] std::uint32_t new_slot();
  [[nodiscard]] std::uint32_t host(std::uint32_t rank) const { return hosts_.empty() ? rank : hosts_[rank]; }
  void flow(Picoseconds now, std::uint32_t slot);
  void find_way(std::uint32_t from, std::uint32_t to, std::uint32_t message, std::vector<LinkId>& path);
  [[nodiscard]] Work crowd(const std::vector<LinkId>& path) const;

  std::vector<std::uint32_t> hosts_;
  std::uint64_t limit_ = UINT64_MAX;
  bool share_nic_ = false;
  std::uint64_t fastest_;        ///< the rate that G allows
  std::uint64_t fastest_eager_;  ///< the same of messages up to the eager limit
  std::uint64_t eager_bytes_;
  Picoseconds round_trip_ = 0;
  std::uint64_t delay_bytes_ = 0;  ///< the bandwidth-delay product: a window of that size never stalls
  std::uint64_t most_window_ = UINT64_MAX;
  std::unique_ptr<Topology> topology_;
  std::unique_ptr<Flows> flows_;
  std::optional<Windows> windows_;
  std::vector<Transfer> transfers_;
  std::vector<std::uint32_t> free_;
  std::vector<std::uint32_t> ended_;
  std::vector<LinkId> other_way_;
};

}  // namespace wulf::replay
