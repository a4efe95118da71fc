#include <optional>
#include <string>
#include <vector>

#include "core/stats/summary.hpp"
#include "core/time/clock.hpp"
#include "mpi/collectives/operations.hpp"
#include "mpi/collectives/timed_calls.hpp"
#include "mpi/probe.hpp"

namespace wulf::mpi {
namespace {

Start start_of(const std::string& name) {
  if (name == "window") {
    return Start::kWindow;
  }
  return name == "barrier" ? Start::kBarrier : Start::kNone;
}

/// The ranks 0 … count-1; MPI_COMM_NULL on the others.
class FirstRanks {
 public:
  FirstRanks(const World& world, int count) {
    MPI_Comm_split(world.comm(), world.rank() < count ? 0 : MPI_UNDEFINED, world.rank(), &comm_);
  }
  FirstRanks(const FirstRanks&) = delete;
  FirstRanks& operator=(const FirstRanks&) = delete;
  FirstRanks(FirstRanks&&) = delete;
  FirstRanks& operator=(FirstRanks&&) = delete;
  ~FirstRanks() {
    if (comm_ != MPI_COMM_NULL) {
      MPI_Comm_free(&comm_);
    }
  }

  [[nodiscard]] MPI_Comm comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

/// One collective operation, again and again.
class Collective : public Replicate {
 public:
  Collective(const World& world, const Json& params, const Operation& operation, const Group& group)
      : world_(world),
        operation_(operation),
        start_(start_of(params.at("start").get<std::string>())),
        start_name_(params.at("start").get<std::string>()),
        seconds_(params.at("seconds").get<double>()),
        verified_(params.at("verified").get<bool>()),
        group_(group) {
    if (group.rank < group.ranks) {
      operands_ = operands(operation, group);
    }
  }

  Outcome measure() override {
    const FirstRanks members(world_, group_.ranks);
    operands_.comm = members.comm();
    return members.comm() == MPI_COMM_NULL ? Outcome{} : measured();
  }

 private:
  /// What takes part does.
  [[nodiscard]] Outcome measured() {
    Outcome outcome;
    const SharedClock clock = synchronise(operands_.comm, now);
    const auto call = [this] { operation_.call(operands_); };
    call();
    std::optional<std::string> wrong = verified_ ? wrong_result(operation_, operands_) : std::nullopt;
    forget(operands_);
    const Nanoseconds start = now();
    const Timed timed = time_calls(operands_.comm, clock, start_, seconds_, call);
    outcome.seconds = to_seconds(now() - start);
    if (verified_ && !wrong) {
      wrong = wrong_result(operation_, operands_);
    }
    Json clocks = describe_clocks(operands_.comm, clock);
    if (wrong) {
      throw Error("wrong-result", std::string(operation_.name) + ": " + *wrong);
    }
    if (group_.rank == 0) {
      describe(outcome, timed, std::move(clocks));
    }
    return outcome;
  }

  void describe(Outcome& outcome, const Timed& timed, Json clocks) const {
    outcome.metrics["time"] = metric(timed, timed.times);
    outcome.metrics["local"] = metric(timed, timed.locals);
    outcome.metrics["skew"] = metric(timed, timed.skews);
    outcome.info = timed.info;
    outcome.info["start"] = start_name_;
    outcome.info["ranks"] = group_.ranks;
    outcome.info["verified"] = verified_;
    outcome.info["clock"] = std::move(clocks);
  }

  [[nodiscard]] static Json metric(const Timed& timed, const std::vector<double>& figures) {
    if (figures.empty()) {
      return no_value(
          "s",
          "no call began at the agreed time on all ranks, as where there are more ranks than CPUs: "
          "start=barrier measures without");
    }
    return summary("s", figures, timed.calls);
  }

  const World& world_;
  const Operation& operation_;
  Start start_;
  std::string start_name_;
  double seconds_;
  bool verified_;
  Group group_;
  Operands operands_;
};

class CollectiveProbe : public RankProbe {
 public:
  CollectiveProbe()
      : RankProbe(
            "collective", "collective",
            "A collective operation, from an agreed start to the last rank's end, with its result checked") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMost = 1 << 30;
    std::vector<std::string> names;
    std::string sizes;
    for (const Operation& each : operations()) {
      names.emplace_back(each.name);
      sizes += std::string(sizes.empty() ? "" : "; ") + each.name + ": " + each.help;
    }
    return {
        {"op", ParamType::kStr, "", "allreduce", nullptr, nullptr, "which operation", names},
        {"bytes", ParamType::kInt, "B", 8, 0, kMost, "as OSU counts it. " + sizes},
        {"root", ParamType::kInt, "1", 0, 0, nullptr, "the rank that has or gets all, of those with one"},
        {"start",
         ParamType::kStr,
         "",
         "window",
         nullptr,
         nullptr,
         "window: at agreed times on a corrected clock; barrier: as it lets ranks go; none: back to back",
         {"window", "barrier", "none"}},
        {"ranks", ParamType::kInt, "1", nullptr, 1, nullptr, "the first so many take part; all unless given"},
        {"verified", ParamType::kBool, "", true, nullptr, nullptr,
         "checks what every rank has in the end, outside the measured time"}};
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"time", "s", "lower", "from the agreed start (else the first rank's) to the last rank's end"},
            {"local", "s", "lower", "inside the call, mean over ranks"},
            {"skew", "s", "lower", "by how much the last rank began later than agreed, or than the first"}};
  }
  [[nodiscard]] int least_ranks() const override { return 1; }

  [[nodiscard]] std::vector<int> ends(const World& world, const Json& params) const override {
    const int last = optional_value<int>(params, "ranks").value_or(world.size()) - 1;
    return last > 0 ? std::vector<int>{0, last} : std::vector<int>{0};
  }

  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    const Operation& chosen = operation(params.at("op").get<std::string>());
    const Group group{.ranks = optional_value<int>(params, "ranks").value_or(world.size()),
                      .rank = world.rank(),
                      .root = params.at("root").get<int>(),
                      .bytes = params.at("bytes").get<std::size_t>()};
    if (group.ranks > world.size()) {
      throw bad_parameter("ranks", std::to_string(group.ranks) + " ranks are more than the " +
                                       std::to_string(world.size()) + " that there are");
    }
    if (group.root >= group.ranks) {
      throw bad_parameter(
          "root", "there is no rank " + std::to_string(group.root) + " among " + std::to_string(group.ranks));
    }
    if (chosen.sums && group.bytes % sizeof(float) != 0) {
      throw bad_parameter("bytes", std::string(chosen.name) + " adds floats of 4 B: " +
                                       std::to_string(group.bytes) + " B are no whole number of them");
    }
    return std::make_unique<Collective>(world, params, chosen, group);
  }
};

const Registered<RankProbe> registered_collective_probe{std::make_unique<CollectiveProbe>()};

}  // namespace
}  // namespace wulf::mpi
