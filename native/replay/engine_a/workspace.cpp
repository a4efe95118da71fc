#include "replay/engine_a/workspace.hpp"

#include <algorithm>

namespace wulf::replay {
namespace {

template <typename V>
V receiver_gaps(std::span<const Network* const> networks) {
  const auto bits = [](const Network& network) { return network.receiver_gap ? -1 : 0; };
  V gaps{};
  if constexpr (kLanes<V> == 1) {
    gaps = bits(*networks[0]);
  } else {
    for (std::size_t lane = 0; lane < kLanes<V>; ++lane) {
      gaps[lane] = bits(*networks[std::min(lane, networks.size() - 1)]);
    }
  }
  return gaps;
}

}  // namespace

template <typename V>
void Workspace<V>::clear(bool rendezvous) {
  const V unknown = V{} + kUnknown;
  const std::size_t messages = program_->messages.count();
  state_.resize(program_->ranks());
  position_.assign(program_->first.begin(), program_->first.end() - 1);
  ready_.resize(program_->ranks());
  if (!forgotten_) {
    sent_.assign(messages, unknown);
  }
  posted_.assign(rendezvous ? messages : 0, unknown);
  sending_.assign(rendezvous ? program_->ranks() : 0, {V{}, unknown});
  ends_.resize(keeps_ == Keeps::kTime ? 0 : program_->ranks());
  end_.resize(keeps_ == Keeps::kAll ? program_->ops() : 0);
}

template <typename V>
Pass<V> Workspace<V>::pass(const CostClasses& classes, std::span<const Network* const> networks,
                           bool rendezvous) {
  return {.receiver_gap = receiver_gaps<V>(networks),
          .time = V{},
          .inversions = V{},
          .first = program_->first.data(),
          .kind = program_->kind.data(),
          .arg = program_->arg.data(),
          .durations = program_->durations.data(),
          .from = program_->messages.from.data(),
          .to = program_->messages.to.data(),
          .classes = classes.of_messages(),
          .costs = costs_.data(),
          .state = state_.data(),
          .position = position_.data(),
          .ready = ready_.data(),
          .sent = sent_.data(),
          .posted = rendezvous ? posted_.data() : nullptr,
          .sending = rendezvous ? sending_.data() : nullptr,
          .ends = keeps_ == Keeps::kTime ? nullptr : ends_.data(),
          .end = end_.data(),
          .ranks = program_->ranks()};
}

template <typename V>
void Workspace<V>::run(const CostClasses& classes, std::span<const Network* const> networks) {
  costs_ = make_costs<V>(classes, networks);
  const bool rendezvous =
      std::any_of(costs_.begin(), costs_.end(), [](const Cost<V>& cost) { return cost.any_rendezvous; });
  clear(rendezvous);
  forgotten_ = false;
  // NOLINTNEXTLINE(misc-const-correctness): the pass writes into it
  Pass<V> work = pass(classes, networks, rendezvous);
  pass_function<V>({.rendezvous = rendezvous, .detailed = keeps_ == Keeps::kAll})(work);
  time_ = work.time;
  inversions_ = work.inversions;
  refuse_blocked();
  forgotten_ = !rendezvous && keeps_ != Keeps::kAll;
}

template <typename V>
void Workspace<V>::refuse_blocked() const {
  std::vector<Blocked> blocked;
  for (std::uint32_t rank = 0; rank < program_->ranks(); ++rank) {
    if (position_[rank] < program_->first[rank + 1]) {
      blocked.push_back({rank, position_[rank]});
    }
  }
  if (!blocked.empty()) {
    throw deadlock(*program_, blocked);
  }
}

template class Workspace<Lanes1>;
template class Workspace<Lanes4>;
template class Workspace<Lanes8>;
template class Workspace<Fine>;

}  // namespace wulf::replay
