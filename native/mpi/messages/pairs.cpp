#include "mpi/messages/pairs.hpp"

namespace wulf::mpi {

std::vector<Param> pair_params(int preset) {
  constexpr int kMost = 1 << 30;
  return {{"a", ParamType::kInt, "", 0, 0, nullptr, "rank that begins, and has the clock"},
          {"b", ParamType::kInt, "", nullptr, 0, nullptr, "the other rank; chosen: the last one"},
          {"bytes", ParamType::kInt, "B", preset, 0, kMost, "of a message"}};
}

std::pair<int, int> pair_of(const World& world, const Json& params) {
  const auto a = params.at("a").get<int>();
  const int b = optional_value<int>(params, "b").value_or(world.size() - 1);
  for (const auto& [name, rank] : {std::pair{"a", a}, std::pair{"b", b}}) {
    if (rank >= world.size()) {
      throw bad_parameter(name, "there is no rank " + std::to_string(rank) + ": this launch has ranks 0 to " +
                                    std::to_string(world.size() - 1));
    }
  }
  if (a == b) {
    throw bad_parameter("b", "a and b are both rank " + std::to_string(a) + ": name two ranks");
  }
  return {a, b};
}

Outcome handed_over(const World& world, int leader, const Outcome& mine) {
  const Json json =
      world.hand_over(leader, {{"metrics", mine.metrics}, {"seconds", mine.seconds}, {"info", mine.info}});
  if (!world.root()) {
    return {};
  }
  return {
      .metrics = json.at("metrics"), .seconds = json.at("seconds").get<double>(), .info = json.at("info")};
}

Pairs::Pairs(const World& world, const Json& params, std::vector<RankPair> pairs, int width)
    : world_(world),
      pairs_(std::move(pairs)),
      length_(length_of(params)),
      crew_(world, pairs_.front().first, followers_of(pairs_)) {
  for (const auto& [first, second] : pairs_) {
    if (world.rank() == first || world.rank() == second) {
      first_ = world.rank() == first;
      end_ = std::make_unique<End>(world, Manner::of(params), params.at("bytes").get<std::size_t>(),
                                   world.rank(), first_ ? second : first, width);
    }
  }
}

std::vector<int> Pairs::followers_of(const std::vector<RankPair>& pairs) {
  std::vector<int> ranks;
  for (const auto& [first, second] : pairs) {
    ranks.push_back(first);
    ranks.push_back(second);
  }
  ranks.erase(ranks.begin());  // the leader
  return ranks;
}

Outcome Pairs::measure() {
  Outcome mine;
  if (leads()) {
    mine = lead();
    crew_.tell({0});
  } else if (end_) {
    follow(
        crew_, [this](const Order& order) { get_ready(order); },
        [this](const Order& order) { take_part(order); });
  }
  Outcome outcome = handed_over(world_, pairs_.front().first, mine);
  if (end_) {
    check();
  }
  return outcome;
}

Outcome Pairs::outcome_of(const Batches& batches) const {
  Outcome outcome;
  outcome.seconds = batches.spent();
  Json ranks = Json::array();
  for (const auto& [first, second] : pairs_) {
    ranks.push_back(Json::array({first, second}));
  }
  outcome.info = {{"pairs", std::move(ranks)}, {"batch", batches.count()}};
  return outcome;
}

void require_memory_of(const World& world, const std::vector<RankPair>& pairs, std::uint64_t bytes) {
  bool is_end = false;
  for (const auto& [first, second] : pairs) {
    is_end = is_end || world.rank() == first || world.rank() == second;
  }
  require_memory(world, is_end ? bytes : 0);
}

}  // namespace wulf::mpi
