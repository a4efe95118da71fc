#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "replay/program/program.hpp"
#include "replay/topology/topology.hpp"

namespace wulf::replay {

using FlowId = std::uint32_t;

__extension__ using Work = unsigned __int128;  ///< bytes with kWorkBits fractional bits

/// Rates are bytes a picosecond, work is bytes, both with so many fractional bits: a rate's step is 1.4e-5
/// bytes a second, the greatest rate 2.5e14.
constexpr unsigned kWorkBits = 56;
constexpr std::uint64_t kAnyRate = UINT64_MAX;  ///< no limit
constexpr Picoseconds kNever = INT64_MAX;

/// A rate in bytes a second, rounded down.
[[nodiscard]] std::uint64_t to_rate(std::uint64_t bytes_per_second);

/// The rate at which a byte takes `byte_fp` (picoseconds with 20 fractional bits), rounded up; kAnyRate for
/// 0.
[[nodiscard]] std::uint64_t rate_of_gap(std::int64_t byte_fp);

/// Transfers that share links: max-min fairness (Bertsekas and Gallager, "Data Networks", 6.5.2), each flow
/// with a rate of its own that it never exceeds.
///
/// All arithmetic is in integers, so that the answers are the same everywhere: fair shares are rounded down
/// (a link is never given away twice), ends are rounded down to whole picoseconds. A flow's own limits are
/// the caller's to round. A link on which all flows together can't exceed its rate binds nobody: flows are
/// connected only by the others, and shares are computed anew only within what is connected to a change.
class Flows {
 public:
  explicit Flows(const std::vector<std::uint64_t>& bytes_per_second);

  /// From now on `bytes` flow over `path`, at `most` or slower; `tag` is the caller's. Its end is known after
  /// settle().
  FlowId start(Picoseconds now, const std::vector<LinkId>& path, std::uint64_t bytes, std::uint64_t most,
               std::uint32_t tag);

  /// Whether flows began or ended since the last settle().
  [[nodiscard]] bool changed() const { return !fresh_.empty() || !touched_.empty(); }

  /// Computes the shares that have changed. Times never go back.
  void settle(Picoseconds now);

  /// When the next flow ends as things stand; kNever where none does. Only when nothing has changed.
  [[nodiscard]] Picoseconds next();

  /// Ends the flows that end now, and appends their tags, in the order of their starts.
  void end(Picoseconds now, std::vector<std::uint32_t>& tags);

  /// How many flow over a link.
  [[nodiscard]] std::size_t on(LinkId link) const { return links_[link].flows.size(); }
  /// How many flow now.
  [[nodiscard]] std::size_t active() const { return active_; }
  /// How many shares were computed so far: what contention costs.
  [[nodiscard]] std::uint64_t computed() const { return computed_; }

 private:
  struct Flow {
    std::vector<LinkId> path;
    std::vector<std::uint32_t> places;  ///< its place in each link's list
    Work left = 0;
    std::uint64_t most = 0;
    std::uint64_t rate = 0;
    Picoseconds since = 0;  ///< `left` is as of then
    Picoseconds ends = kNever;
    std::uint64_t order = 0;
    std::uint32_t tag = 0;
    std::uint32_t seen = 0;
    bool active = false;
    bool frozen = false;
  };
  struct Link {
    std::uint64_t rate = 0;
    Work limits = 0;                                      ///< the sum of its flows' own limits
    std::vector<std::pair<FlowId, std::uint32_t>> flows;  ///< and which hop of the flow it is
    std::uint64_t rest = 0;
    std::uint32_t open = 0;  ///< flows without a share yet
    std::uint32_t seen = 0;
    [[nodiscard]] bool binds() const { return limits > rate; }
  };
  /// Flows that are connected by links that bind, and these.
  struct Component {
    std::vector<FlowId> flows;
    std::vector<LinkId> links;
  };
  using Offer = std::pair<std::uint64_t, LinkId>;  ///< a link's share for each of its open flows
  using Ending = std::pair<Picoseconds, FlowId>;

  [[nodiscard]] FlowId new_slot();
  void join(FlowId id);
  void leave(FlowId id);
  void settle_component(FlowId seed, Picoseconds now);
  void collect(FlowId seed);
  void share();
  void offer_shares();
  void freeze(FlowId id, std::uint64_t rate);
  void apply(Picoseconds now);
  static void set_rate(Flow& flow, std::uint64_t rate, Picoseconds now);

  std::vector<Link> links_;
  std::vector<Flow> flows_;
  std::vector<FlowId> free_;
  std::vector<FlowId> fresh_;    ///< started since the last settle()
  std::vector<LinkId> touched_;  ///< those that bound a flow that has left
  std::priority_queue<Ending, std::vector<Ending>, std::greater<>> endings_;
  Component component_;
  std::vector<FlowId> by_limit_;
  std::vector<std::uint64_t> shares_;  ///< by flow: what share() found
  std::priority_queue<Offer, std::vector<Offer>, std::greater<>> offers_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> ended_;
  std::uint64_t orders_ = 0;
  std::uint64_t computed_ = 0;
  std::size_t active_ = 0;
  std::uint32_t mark_ = 0;
};

}  // namespace wulf::replay
