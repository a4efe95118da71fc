#include "replay/engine_b/flows.hpp"

#include <algorithm>

#include "replay/run/network.hpp"

namespace wulf::replay {
namespace {

/// How long so much work takes, rounded down.
Picoseconds duration(Work work, std::uint64_t rate) {
  if (work == 0 || rate == kAnyRate) {
    return 0;
  }
  const Work time = rate == 0 ? Work{kNever} : work / rate;
  return time > static_cast<Work>(kNever / 4) ? kNever / 4 : static_cast<Picoseconds>(time);
}

}  // namespace

std::uint64_t to_rate(std::uint64_t bytes_per_second) {
  const Work rate = (static_cast<Work>(bytes_per_second) << kWorkBits) / kPerSecond;
  return rate >= kAnyRate ? kAnyRate - 1 : static_cast<std::uint64_t>(rate);
}

std::uint64_t rate_of_gap(std::int64_t byte_fp) {
  if (byte_fp <= 0) {
    return kAnyRate;
  }
  const auto gap = static_cast<Work>(byte_fp);
  const Work rate = ((Work{1} << (kWorkBits + kFractionBits)) + gap - 1) / gap;
  return rate >= kAnyRate ? kAnyRate - 1 : static_cast<std::uint64_t>(rate);
}

Flows::Flows(const std::vector<std::uint64_t>& bytes_per_second) : links_(bytes_per_second.size()) {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i].rate = to_rate(bytes_per_second[i]);
  }
}

FlowId Flows::new_slot() {
  if (free_.empty()) {
    flows_.emplace_back();
    shares_.push_back(0);
    return static_cast<FlowId>(flows_.size() - 1);
  }
  const FlowId id = free_.back();
  free_.pop_back();
  return id;
}

FlowId Flows::start(Picoseconds now, const std::vector<LinkId>& path, std::uint64_t bytes, std::uint64_t most,
                    std::uint32_t tag) {
  const FlowId id = new_slot();
  Flow& flow = flows_[id];
  flow.path = path;
  flow.places.resize(path.size());
  flow.left = static_cast<Work>(bytes) << kWorkBits;
  flow.most = most;
  flow.rate = 0;
  flow.since = now;
  flow.ends = kNever;
  flow.order = orders_++;
  flow.tag = tag;
  flow.active = true;
  join(id);
  fresh_.push_back(id);
  ++active_;
  return id;
}

void Flows::join(FlowId id) {
  Flow& flow = flows_[id];
  for (std::uint32_t hop = 0; hop < flow.path.size(); ++hop) {
    Link& link = links_[flow.path[hop]];
    flow.places[hop] = static_cast<std::uint32_t>(link.flows.size());
    link.flows.emplace_back(id, hop);
    link.limits += flow.most;
  }
}

void Flows::leave(FlowId id) {
  Flow& flow = flows_[id];
  for (std::uint32_t hop = 0; hop < flow.path.size(); ++hop) {
    Link& link = links_[flow.path[hop]];
    if (link.binds()) {
      touched_.push_back(flow.path[hop]);
    }
    const auto last = link.flows.back();
    link.flows[flow.places[hop]] = last;
    flows_[last.first].places[last.second] = flow.places[hop];
    link.flows.pop_back();
    link.limits -= flow.most;
  }
  flow.active = false;
  free_.push_back(id);
  --active_;
}

void Flows::settle(Picoseconds now) {
  ++mark_;
  for (const LinkId touched : touched_) {
    for (const auto& [flow, hop] : links_[touched].flows) {
      settle_component(flow, now);
    }
  }
  for (const FlowId fresh : fresh_) {
    if (flows_[fresh].active) {
      settle_component(fresh, now);
    }
  }
  touched_.clear();
  fresh_.clear();
}

void Flows::settle_component(FlowId seed, Picoseconds now) {
  if (flows_[seed].seen == mark_) {
    return;
  }
  collect(seed);
  share();
  apply(now);
}

void Flows::collect(FlowId seed) {
  auto& [flows, links] = component_;
  flows.assign(1, seed);
  links.clear();
  flows_[seed].seen = mark_;
  for (std::size_t i = 0; i < flows.size(); ++i) {
    for (const LinkId l : flows_[flows[i]].path) {
      Link& link = links_[l];
      if (link.seen == mark_ || !link.binds()) {
        continue;
      }
      link.seen = mark_;
      links.push_back(l);
      for (const auto& [other, hop] : link.flows) {
        if (flows_[other].seen != mark_) {
          flows_[other].seen = mark_;
          flows.push_back(other);
        }
      }
    }
  }
}

void Flows::offer_shares() {
  offers_ = {};
  for (const LinkId l : component_.links) {
    Link& link = links_[l];
    link.rest = link.rate;
    link.open = static_cast<std::uint32_t>(link.flows.size());
    offers_.emplace(link.rest / link.open, l);
  }
}

void Flows::freeze(FlowId id, std::uint64_t rate) {
  Flow& flow = flows_[id];
  flow.frozen = true;
  shares_[id] = rate;
  for (const LinkId l : flow.path) {
    Link& link = links_[l];
    if (link.seen == mark_) {
      link.rest -= rate;
      --link.open;
    }
  }
}

/// Fills all flows' shares at one pace until a link is full or a flow has all it can use: those are settled,
/// and the others go on. A link's offer never falls when a flow is settled at less, so that an old offer is
/// merely put back.
void Flows::share() {
  computed_ += component_.flows.size();
  by_limit_ = component_.flows;
  for (const FlowId id : by_limit_) {
    flows_[id].frozen = false;
  }
  std::sort(by_limit_.begin(), by_limit_.end(),
            [this](FlowId a, FlowId b) { return flows_[a].most < flows_[b].most; });
  offer_shares();
  std::size_t satisfied = 0;
  while (satisfied < by_limit_.size()) {
    const FlowId least = by_limit_[satisfied];
    if (flows_[least].frozen) {
      ++satisfied;
      continue;
    }
    if (offers_.empty()) {
      freeze(least, flows_[least].most);
      continue;
    }
    const auto [offer, l] = offers_.top();
    const Link& link = links_[l];
    if (link.open == 0) {
      offers_.pop();
    } else if (link.rest / link.open != offer) {
      offers_.pop();
      offers_.emplace(link.rest / link.open, l);
    } else if (flows_[least].most <= offer) {
      freeze(least, flows_[least].most);
    } else {
      offers_.pop();
      for (const auto& [id, hop] : link.flows) {
        if (!flows_[id].frozen) {
          freeze(id, offer);
        }
      }
    }
  }
}

void Flows::set_rate(Flow& flow, std::uint64_t rate, Picoseconds now) {
  const Work moved = static_cast<Work>(flow.rate) * static_cast<Work>(now - flow.since);
  flow.left -= std::min(flow.left, moved);
  flow.since = now;
  flow.rate = rate;
  flow.ends = now + duration(flow.left, rate);
}

void Flows::apply(Picoseconds now) {
  Picoseconds first = kNever;
  for (const FlowId id : component_.flows) {
    Flow& flow = flows_[id];
    if (flow.rate != shares_[id] || flow.ends == kNever) {
      set_rate(flow, shares_[id], now);
    }
    first = std::min(first, flow.ends);
  }
  for (const FlowId id : component_.flows) {
    if (flows_[id].ends == first) {
      endings_.emplace(first, id);
    }
  }
}

Picoseconds Flows::next() {
  while (!endings_.empty()) {
    const auto [time, id] = endings_.top();
    if (flows_[id].active && flows_[id].ends == time) {
      return time;
    }
    endings_.pop();  // it ended, or its share changed, since
  }
  return kNever;
}

void Flows::end(Picoseconds now, std::vector<std::uint32_t>& tags) {
  ended_.clear();
  while (next() <= now) {
    const FlowId id = endings_.top().second;
    endings_.pop();
    ended_.emplace_back(flows_[id].order, flows_[id].tag);
    leave(id);
  }
  std::sort(ended_.begin(), ended_.end());
  for (const auto& [order, tag] : ended_) {
    tags.push_back(tag);
  }
}

}  // namespace wulf::replay
