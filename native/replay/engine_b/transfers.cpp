#include "replay/engine_b/transfers.hpp"

#include <algorithm>

#include "core/json/error.hpp"
#include "core/json/params.hpp"

namespace wulf::replay {
namespace {

/// Below it a message is small beside what its overheads cost: those that flow are few, and long.
constexpr std::int64_t kFlowBytes = 8192;
constexpr std::int64_t kMostFlowBytes = 1LL << 40U;

/// A host's number is its place in the topology, so that the greatest one counts.
std::uint32_t count_hosts(const Network& network, std::uint32_t ranks) {
  if (network.hosts.empty()) {
    return ranks;
  }
  constexpr std::uint32_t kMost = 1U << 26U;
  const std::uint32_t last = *std::max_element(network.hosts.begin(), network.hosts.end());
  if (last >= kMost) {
    throw bad_parameter("hosts", "hosts has " + std::to_string(last) +
                                     ", but with a topology or slow start hosts are " +
                                     "numbered from 0, below " + std::to_string(kMost));
  }
  return last + 1;
}

std::uint64_t flow_limit(const Json& topology) {
  return static_cast<std::uint64_t>(
      topology.contains("flow_bytes") ? int_field(topology, "flow_bytes", 0, kMostFlowBytes) : kFlowBytes);
}

/// Slow start on a network without a topology: hosts that send and receive as fast as G lets them. Without it
/// nothing would hold several senders to one receiver back, since these messages bypass the receiver's gap.
std::unique_ptr<Topology> implied_topology(const Network& network, std::uint32_t hosts) {
  if (!network.receiver_gap || network.inter.byte_fp <= 0) {
    return nullptr;
  }
  const auto gap = static_cast<Work>(network.inter.byte_fp);
  const Work rate = ((Work{kPerSecond} << kFractionBits) + gap - 1) / gap;
  return make_star(std::vector<std::uint64_t>(hosts, static_cast<std::uint64_t>(rate)));
}

/// The bytes that a rate sends in a time, rounded up.
std::uint64_t bytes_in(std::uint64_t rate, Picoseconds time) {
  if (rate == kAnyRate) {
    return UINT64_MAX;
  }
  const Work bytes = ((static_cast<Work>(rate) * static_cast<Work>(time)) >> kWorkBits) + 1;
  return bytes > UINT64_MAX ? UINT64_MAX : static_cast<std::uint64_t>(bytes);
}

/// The rate that sends so many bytes in a time, rounded down; at least the slowest there is.
std::uint64_t rate_for(std::uint64_t bytes, Picoseconds time) {
  if (time <= 0) {
    return kAnyRate;
  }
  const Work rate = (static_cast<Work>(bytes) << kWorkBits) / static_cast<Work>(time);
  return static_cast<std::uint64_t>(std::clamp<Work>(rate, 1, kAnyRate));
}

}  // namespace

Transfers::Transfers(const Network& network, std::uint32_t ranks)
    : hosts_(network.hosts),
      fastest_(rate_of_gap(network.inter.byte_fp)),
      fastest_eager_(rate_of_gap(network.inter.per_byte(0))),
      eager_bytes_(network.inter.eager_bytes) {
  if (network.topology.is_null() && network.slow_start.is_null()) {
    flows_ = std::make_unique<Flows>(std::vector<std::uint64_t>{});
    return;
  }
  const std::uint32_t hosts = count_hosts(network, ranks);
  share_nic_ = network.shared_nic;
  if (!network.topology.is_null()) {
    const Json described = describe_topology(network.topology);
    topology_ = make_topology(described, hosts);
    limit_ = flow_limit(described);
    share_nic_ = flag_field(described, "shared_nic", share_nic_);
  }
  if (!network.slow_start.is_null()) {
    const SlowStart settings = parse_slow_start(network.slow_start);
    windows_.emplace(settings);
    limit_ = std::min(limit_, settings.initial);
    most_window_ = settings.most;
    round_trip_ = settings.round_trip.value_or(2 * network.inter.latency);
    delay_bytes_ = bytes_in(fastest_, round_trip_);
    if (!topology_) {
      topology_ = implied_topology(network, hosts);
    }
  }
  flows_ = std::make_unique<Flows>(topology_ ? topology_->rates() : std::vector<std::uint64_t>{});
}

std::uint32_t Transfers::new_slot() {
  if (free_.empty()) {
    transfers_.emplace_back();
    return static_cast<std::uint32_t>(transfers_.size() - 1);
  }
  const std::uint32_t slot = free_.back();
  free_.pop_back();
  return slot;
}

/// How slow a way is, as UGAL has it: what its most crowded link would take for a byte, times its links,
/// since a longer way takes room from more of the others.
Work Transfers::crowd(const std::vector<LinkId>& path) const {
  Work most = 0;
  for (const LinkId link : path) {
    most = std::max(most, (Work{flows_->on(link) + 1} << kWorkBits) / topology_->rates()[link]);
  }
  return most * path.size();
}

/// The usual way, unless it is more crowded than one of the detours that the message looks at.
void Transfers::find_way(std::uint32_t from, std::uint32_t to, std::uint32_t message,
                         std::vector<LinkId>& path) {
  topology_->route(from, to, path);
  const std::uint32_t detours = topology_->detours();
  Work least = detours > 0 ? crowd(path) : 0;
  for (std::uint32_t i = 0; i < detours; ++i) {
    other_way_.clear();
    topology_->detour(from, to, (std::uint64_t{message} * detours) + i, other_way_);
    const Work crowded = crowd(other_way_);
    if (crowded < least) {
      least = crowded;
      path.swap(other_way_);
    }
  }
}

/// A byte less than the message has, as in LogGP: its first is there after the latency.
void Transfers::begin(Picoseconds now, std::uint32_t message, std::uint32_t from, std::uint32_t to,
                      std::uint64_t bytes) {
  const std::uint32_t slot = new_slot();
  Transfer& transfer = transfers_[slot];
  transfer.path.clear();
  if (topology_) {
    find_way(host(from), host(to), message, transfer.path);
  }
  transfer.left = bytes - 1;
  transfer.fastest = bytes > eager_bytes_ ? fastest_ : fastest_eager_;
  transfer.window = windows_ ? windows_->open(from, to, now) : UINT64_MAX;
  transfer.message = message;
  transfer.from = from;
  transfer.to = to;
  flow(now, slot);
}

void Transfers::resume(Picoseconds now, std::uint32_t slot) {
  if (windows_) {  // only rounds of slow start pause
    transfers_[slot].window = windows_->grown(transfers_[slot].window);
  }
  flow(now, slot);
}

/// While the window grows, a round of it flows as fast as it may, and the next one a round trip later at the
/// earliest. Once it covers the bandwidth-delay product, nothing stalls; where it stays below,
/// acknowledgements spread it over the round trip.
void Transfers::flow(Picoseconds now, std::uint32_t slot) {
  Transfer& transfer = transfers_[slot];
  std::uint64_t most = transfer.fastest;
  std::uint64_t bytes = transfer.left;
  if (windows_ && transfer.window < delay_bytes_) {
    if (transfer.window == most_window_) {
      most = std::min(most, rate_for(transfer.window, round_trip_));
    } else {
      bytes = std::min(bytes, transfer.window);
    }
  }
  transfer.left -= bytes;
  transfer.round_end = now + round_trip_;
  flows_->start(now, transfer.path, bytes, most, slot);
}

void Transfers::end(Picoseconds now, std::vector<std::uint32_t>& through, std::vector<Pause>& pauses) {
  ended_.clear();
  flows_->end(now, ended_);
  for (const std::uint32_t slot : ended_) {
    const Transfer& transfer = transfers_[slot];
    if (transfer.left > 0) {
      pauses.push_back({std::max(now, transfer.round_end), slot});
      continue;
    }
    if (windows_) {
      windows_->keep(transfer.from, transfer.to, transfer.window, now);
    }
    through.push_back(transfer.message);
    free_.push_back(slot);
  }
}

}  // namespace wulf::replay
