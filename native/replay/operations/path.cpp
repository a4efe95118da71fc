#include <algorithm>
#include <array>
#include <queue>
#include <vector>

#include "core/json/params.hpp"
#include "core/session/registry.hpp"
#include "replay/engine_a/critical_path.hpp"
#include "replay/engine_a/detailed.hpp"
#include "replay/run/network.hpp"
#include "replay/service.hpp"

namespace wulf::replay {
namespace {

constexpr std::int64_t kUsual = 1000;
constexpr std::int64_t kMost = 1'000'000;
constexpr std::array kKinds{"compute", "latency", "bytes", "overhead", "waiting"};

using PathStep = Step<Lanes1>;
using Sums = std::array<Picoseconds, kKinds.size()>;

Picoseconds total(const Sums& sums) {
  Picoseconds sum = 0;
  for (const Picoseconds each : sums) {
    sum += each;
  }
  return sum;
}

Json described(const Sums& sums) {
  Json json = Json::object();
  for (std::size_t kind = 0; kind < kKinds.size(); ++kind) {
    json[kKinds.at(kind)] = sums.at(kind);
  }
  return json;
}

/// Keeps the longest steps, and sums of all.
class Collected {
 public:
  Collected(std::uint32_t ranks, std::size_t most) : most_(most), ranks_(ranks) {}

  void add(const PathStep& step) {
    const Picoseconds takes = step.end - step.begin;
    if (takes == 0) {
      return;
    }
    ++count_;
    ranks_[step.rank].at(static_cast<std::size_t>(step.kind)) += takes;
    longest_.push(step);
    if (longest_.size() > most_) {
      longest_.pop();
    }
  }

  /// The longest ones, in the order of time.
  [[nodiscard]] std::vector<PathStep> steps() {
    std::vector<PathStep> steps;
    for (; !longest_.empty(); longest_.pop()) {
      steps.push_back(longest_.top());
    }
    std::sort(steps.begin(), steps.end(),
              [](const PathStep& a, const PathStep& b) { return a.begin < b.begin; });
    return steps;
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }

  /// The ranks with the most time on the path, and where it goes.
  [[nodiscard]] Json ranks() const {
    std::vector<std::uint32_t> order;
    for (std::uint32_t rank = 0; rank < ranks_.size(); ++rank) {
      if (total(ranks_[rank]) > 0) {
        order.push_back(rank);
      }
    }
    std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return total(ranks_[a]) != total(ranks_[b]) ? total(ranks_[a]) > total(ranks_[b]) : a < b;
    });
    order.resize(std::min(order.size(), most_));
    Json list = Json::array();
    for (const std::uint32_t rank : order) {
      list.push_back({{"rank", rank}, {"ps", total(ranks_[rank])}, {"parts", described(ranks_[rank])}});
    }
    return list;
  }

 private:
  struct Longer {
    bool operator()(const PathStep& a, const PathStep& b) const {
      const Picoseconds first = a.end - a.begin;
      const Picoseconds second = b.end - b.begin;
      return first != second ? first > second : a.begin < b.begin;  // of equal ones, the earlier is kept
    }
  };

  std::size_t most_;
  std::uint64_t count_ = 0;
  std::vector<Sums> ranks_;
  std::priority_queue<PathStep, std::vector<PathStep>, Longer> longest_;
};

Json described(const Program& program, const PathStep& step) {
  Json json{{"rank", step.rank},
            {"begin", step.begin},
            {"end", step.end},
            {"kind", kKinds.at(static_cast<std::size_t>(step.kind))},
            {"mark", program.mark_of(step.op)}};
  if (step.message != kNone) {
    json["from"] = program.messages.from[step.message];
    json["to"] = program.messages.to[step.message];
    json["bytes"] = program.bytes_of(step.message);
  }
  return json;
}

class Path final : public Question {
 public:
  Path()
      : Question(
            "path",
            "the critical path: its longest steps in the order of time, and by rank where the time goes; "
            "times in ps") {}

  [[nodiscard]] Json answer(const Json& request, Programs& programs) const override {
    refuse_unknown_fields(request, {"id", "op", "program", "network", "most"});
    const auto loaded = programs.of(request);
    const Program& program = loaded->program;
    const Network network = network_field(request, program.ranks());
    const auto most = static_cast<std::size_t>(int_or(request, "most", kUsual, 1, kMost));
    const Detailed pass(program, network);
    CriticalPath<Lanes1> path(program, pass.classes, pass.space);
    Collected collected(program.ranks(), most);
    path.walk([&collected](const PathStep& step) { collected.add(step); });
    Json steps = Json::array();
    for (const PathStep& step : collected.steps()) {
      steps.push_back(described(program, step));
    }
    return {{"ps", pass.space.time()},
            {"count", collected.count()},
            {"steps", std::move(steps)},
            {"ranks", collected.ranks()}};
  }
};

const Registered<Question> registered_path{std::make_unique<Path>()};

}  // namespace
}  // namespace wulf::replay
