#include "mpi/plain/graph/graph.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/time/clock.hpp"
#include "mpi/plain/farm/work.hpp"
#include "mpi/plain/messages/pattern.hpp"
#include "mpi/probe.hpp"
#include "mpi/ranks/memory.hpp"

namespace wulf::mpi {
namespace {

constexpr int kInputTag = 61;
constexpr std::size_t kStamp = 8;
constexpr std::int64_t kLeastSteps = 32;
constexpr std::int64_t kMostSteps = 1'000'000'000;

/// What one rank needs from others, and whether it got it: both ends of a message say who sent it after which
/// step.
class Inputs {
 public:
  Inputs(const World& world, std::size_t bytes, std::size_t most)
      : world_(world), bytes_(bytes), out_(bytes), in_(bytes * most) {}

  /// Hands the task's result to those that need it, and waits for what the next task needs.
  void exchange(const GraphEdges& edges, std::int64_t step) {
    requests_.clear();
    for (std::size_t i = 0; i < edges.from.size(); ++i) {
      MPI_Irecv(message(i).data(), static_cast<int>(bytes_), MPI_BYTE, edges.from[i], kInputTag,
                world_.comm(), &requests_.emplace_back());
    }
    for (const std::span<std::byte> end : ends(out_)) {
      fill_pattern(end, seed(step, world_.rank()));
    }
    for (const int to : edges.to) {
      MPI_Isend(out_.data(), static_cast<int>(bytes_), MPI_BYTE, to, kInputTag, world_.comm(),
                &requests_.emplace_back());
    }
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    sent_ += edges.to.size();
    for (std::size_t i = 0; i < edges.from.size(); ++i) {
      check(message(i), edges.from[i], step);
    }
  }

  [[nodiscard]] const std::optional<std::string>& wrong() const { return wrong_; }
  /// Messages since it was last asked.
  [[nodiscard]] std::uint64_t sent() { return std::exchange(sent_, 0); }

 private:
  [[nodiscard]] std::span<std::byte> message(std::size_t place) {
    return std::span(in_).subspan(place * bytes_, bytes_);
  }

  [[nodiscard]] static std::array<std::span<std::byte>, 2> ends(std::span<std::byte> message) {
    return {message.first(kStamp), message.last(kStamp)};
  }

  [[nodiscard]] std::uint64_t seed(std::int64_t step, int rank) const {
    return static_cast<std::uint64_t>((step * world_.size()) + rank);
  }

  void check(std::span<std::byte> message, int from, std::int64_t step) {
    for (const std::span<std::byte> end : ends(message)) {
      const auto found = wrong_ ? std::nullopt : difference(end, seed(step, from));
      if (found) {
        wrong_ = "step " + std::to_string(step + 1) + " needs what " + world_.name_of(from) +
                 " made, and got something else: " + describe(*found, kStamp);
      }
    }
  }

  const World& world_;
  std::size_t bytes_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
  std::vector<MPI_Request> requests_;
  std::uint64_t sent_ = 0;
  std::optional<std::string> wrong_;
};

/// Steps of tasks, one a rank; none begins before those that it needs have ended, and their results are here.
class Graph : public Replicate {
 public:
  Graph(const World& world, const Json& params, std::vector<GraphEdges> edges, std::size_t most)
      : world_(world),
        params_(params),
        edges_(std::move(edges)),
        work_(spin_work(params.at("task_seconds").get<double>())),
        inputs_(world, params.at("bytes").get<std::size_t>(), most) {}

  Outcome measure() override {
    const std::int64_t steps = steps_to_do();
    (void)inputs_.sent();
    const double seconds = run(steps);
    std::uint64_t messages = inputs_.sent();
    MPI_Allreduce(MPI_IN_PLACE, &messages, 1, MPI_UINT64_T, MPI_SUM, world_.comm());
    if (inputs_.wrong()) {
      throw Error("wrong-result", *inputs_.wrong());
    }
    const double step = seconds / static_cast<double>(steps);
    Outcome outcome;
    outcome.seconds = seconds;
    outcome.metrics["step"] = {{"unit", "s"}, {"value", step}};
    outcome.metrics["overhead"] = {{"unit", "s"}, {"value", step - work_->seconds()}};
    outcome.metrics["efficiency"] = {{"unit", "1"}, {"value", work_->seconds() / step}};
    outcome.info = {{"steps", steps}, {"messages", messages}, {"tasks", steps * world_.size()}};
    return outcome;
  }

 private:
  /// As asked; else so many that they take `seconds`, by a run of a few. The first run makes the connections.
  [[nodiscard]] std::int64_t steps_to_do() {
    (void)run(kLeastSteps);
    if (const auto given = optional_value<std::int64_t>(params_, "steps")) {
      return *given;
    }
    const double wanted = params_.at("seconds").get<double>() / run(kLeastSteps) * kLeastSteps;
    return static_cast<std::int64_t>(
        std::clamp(std::ceil(wanted), static_cast<double>(kLeastSteps), static_cast<double>(kMostSteps)));
  }

  /// Seconds of the slowest rank, from a barrier on: the same on all.
  [[nodiscard]] double run(std::int64_t steps) {
    Digest digest{};
    MPI_Barrier(world_.comm());
    const Nanoseconds start = now();
    for (std::int64_t step = 0; step < steps; ++step) {
      const auto input = static_cast<std::uint32_t>(step);
      work_->done({&input, 1}, digest.data());
      inputs_.exchange(edges_[static_cast<std::size_t>(step) % edges_.size()], step);
    }
    double slowest = to_seconds(now() - start);
    MPI_Allreduce(MPI_IN_PLACE, &slowest, 1, MPI_DOUBLE, MPI_MAX, world_.comm());
    return slowest;
  }

  const World& world_;
  Json params_;
  std::vector<GraphEdges> edges_;
  std::unique_ptr<Work> work_;
  Inputs inputs_;
};

class GraphProbe : public RankProbe {
 public:
  GraphProbe()
      : RankProbe(
            "graph", "pattern",
            "Steps of tasks, one a rank, each of which needs tasks of the step before, as Task Bench's") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMostBytes = 1 << 26;
    return {
        {"dependence",
         ParamType::kStr,
         "",
         "stencil",
         nullptr,
         nullptr,
         "what a task needs besides its own rank's: nothing, both neighbours, a butterfly, a tree there and "
         "back, or all",
         {"none", "stencil", "fft", "tree", "all"}},
        {"task_seconds", ParamType::kFloat, "s", 1e-5, 0.0, 10.0, "that a task spins"},
        {"bytes", ParamType::kInt, "B", 16, kStamp, kMostBytes, "of each result that another task needs"},
        {"steps", ParamType::kInt, "1", nullptr, 1, kMostSteps, "of tasks [as many as take `seconds`]"}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"step", "s", "lower", "of a step on the slowest rank: a task, and what it waits for"},
            {"overhead", "s", "lower", "a step's time beyond that of its task alone"},
            {"efficiency", "1", "higher", "a task's time alone over a step's"}};
  }

  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    std::vector<GraphEdges> edges =
        graph_edges(graph_pattern(params.at("dependence").get<std::string>()), world.rank(), world.size());
    std::size_t most = 0;
    for (const GraphEdges& each : edges) {
      most = std::max(most, each.from.size());
    }
    require_memory(world, (most + 1) * params.at("bytes").get<std::uint64_t>());
    return std::make_unique<Graph>(world, params, std::move(edges), most);
  }
};

const Registered<RankProbe> registered_graph_probe{std::make_unique<GraphProbe>()};

}  // namespace
}  // namespace wulf::mpi
