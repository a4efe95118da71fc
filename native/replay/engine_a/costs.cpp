#include "replay/engine_a/costs.hpp"

#include <algorithm>

#include "core/json/error.hpp"

namespace wulf::replay {
namespace {

/// Picoseconds and costs per byte in the type of a lane's times.
template <typename Time>
struct Scale {
  static Time time(Picoseconds value) { return value; }
  static Time bytes(std::int64_t cost, std::uint64_t n) { return mul(cost, n); }
};

template <>
struct Scale<Fine> {
  static Fine time(Picoseconds value) { return static_cast<Fine>(value) << kFineBits; }
  static Fine bytes(std::int64_t cost, std::uint64_t n) {
    return static_cast<Fine>(cost) * static_cast<Fine>(n);
  }
};

template <typename Time>
Cost<Time> cost_of(const LinkClass& link, std::uint64_t bytes, Picoseconds connect) {
  using In = Scale<Time>;
  const Time stretch = bytes == 0 ? Time{0} : In::bytes(link.per_byte(bytes), bytes - 1);
  const bool rendezvous = bytes > link.eager_bytes;
  return {.send = In::time(link.send + connect) + In::bytes(link.send_byte_fp, bytes),
          .latency = In::time(link.latency),
          .way = In::time(link.latency) + In::bytes(link.packet_byte_fp, link.stored(bytes)),
          .stretch = stretch,
          .gap_stretch = In::time(link.gap) + stretch,
          .receive = In::time(link.receive) + In::bytes(link.receive_byte_fp, bytes),
          .rendezvous = rendezvous ? Time{-1} : Time{0},
          .any_rendezvous = rendezvous};
}

/// Puts one network's cost into a lane.
template <typename V>
void set_lane(Cost<V>& cost, std::size_t lane, const Cost<Lanes1>& value) {
  cost.send[lane] = value.send;
  cost.latency[lane] = value.latency;
  cost.way[lane] = value.way;
  cost.stretch[lane] = value.stretch;
  cost.gap_stretch[lane] = value.gap_stretch;
  cost.receive[lane] = value.receive;
  cost.rendezvous[lane] = value.rendezvous;
  cost.any_rendezvous |= value.any_rendezvous;
}

template <typename V>
Cost<V> lanes_of(const CostClasses& classes, std::size_t each, std::span<const Network* const> networks) {
  if constexpr (kLanes<V> == 1) {
    return cost_of<V>(classes.link(*networks[0], each), classes.bytes(each), classes.connect(each));
  } else {
    Cost<V> cost{};
    for (std::size_t lane = 0; lane < kLanes<V>; ++lane) {
      const Network& network = *networks[std::min(lane, networks.size() - 1)];
      set_lane(cost, lane,
               cost_of<Lanes1>(classes.link(network, each), classes.bytes(each), classes.connect(each)));
    }
    return cost;
  }
}

}  // namespace

CostClasses::CostClasses(const Program& program, const std::vector<std::uint32_t>& hosts)
    : program_(&program) {
  const Messages& messages = program.messages;
  const std::size_t count = messages.count();
  const auto within = [&](std::size_t m) {
    return messages.from[m] == messages.to[m] ||
           (!hosts.empty() && hosts[messages.from[m]] == hosts[messages.to[m]]);
  };
  for (std::size_t message = 0; message < count && !split_; ++message) {
    split_ = within(message);
  }
  count_ = program.sizes.size() * (split_ ? 2 : 1);
  if (split_) {
    classes_.resize(count);
    for (std::size_t message = 0; message < count; ++message) {
      classes_[message] = (2 * messages.size[message]) + (within(message) ? 1 : 0);
    }
  }
  messages_.assign(count_, 0);
  for (std::size_t message = 0; message < count; ++message) {
    ++messages_[of(static_cast<std::uint32_t>(message))];
  }
  for (const Picoseconds each : program.durations) {
    computing_ += static_cast<long double>(each);
  }
}

std::uint32_t CostClasses::of(std::uint32_t message) const {
  return split_ ? classes_[message] : program_->messages.size[message];
}

const std::uint32_t* CostClasses::of_messages() const {
  if (count_ <= 1) {
    return nullptr;
  }
  return split_ ? classes_.data() : program_->messages.size.data();
}

void CostClasses::check(const Network& network) const {
  constexpr long double kMost = 0x1p62L;
  constexpr long double kFraction = 0x1p-20L;
  constexpr int kLatencies = 3;  // of a rendezvous
  long double total = computing_;
  for (std::size_t each = 0; each < count_; ++each) {
    const LinkClass& k = link(network, each);
    const auto n = static_cast<long double>(bytes(each));
    const auto fixed = static_cast<long double>(k.send) + static_cast<long double>(k.receive) +
                       (2 * static_cast<long double>(k.gap)) +
                       (kLatencies * static_cast<long double>(k.latency)) +
                       static_cast<long double>(connect(each));
    const auto per_byte = static_cast<long double>(k.send_byte_fp) +
                          static_cast<long double>(k.receive_byte_fp) +
                          (2 * static_cast<long double>(k.per_byte(bytes(each))));
    const auto stored =
        static_cast<long double>(k.packet_byte_fp) * static_cast<long double>(k.stored(bytes(each)));
    total += static_cast<long double>(messages_[each]) * (fixed + (((per_byte * n) + stored) * kFraction));
  }
  if (total > kMost) {
    throw bad_parameter("networks",
                        "on the network '" + network.name + "' the program may take longer than " +
                            "53 days, more than picoseconds in 64 bits hold: replay fewer rounds, or "
                            "check its units");
  }
}

template <typename V>
std::vector<Cost<V>> make_costs(const CostClasses& classes, std::span<const Network* const> networks) {
  std::vector<Cost<V>> costs;
  costs.reserve(classes.count());
  for (std::size_t each = 0; each < classes.count(); ++each) {
    costs.push_back(lanes_of<V>(classes, each, networks));
  }
  return costs;
}

template std::vector<Cost<Lanes1>> make_costs(const CostClasses&, std::span<const Network* const>);
template std::vector<Cost<Lanes4>> make_costs(const CostClasses&, std::span<const Network* const>);
template std::vector<Cost<Lanes8>> make_costs(const CostClasses&, std::span<const Network* const>);
template std::vector<Cost<Fine>> make_costs(const CostClasses&, std::span<const Network* const>);

}  // namespace wulf::replay
