#include "mpi/farm/farm.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "core/stats/summary.hpp"
#include "core/time/clock.hpp"
#include "mpi/plain/farm/kinds.hpp"
#include "mpi/plain/farm/nearness.hpp"
#include "mpi/plain/farm/team.hpp"
#include "mpi/probe.hpp"

namespace wulf::mpi {
namespace {

constexpr std::uint32_t kMostUnits = std::numeric_limits<std::uint32_t>::max();

FarmPlan plan_of(const World& world, const Json& params) {
  const int others = world.size() - 1;
  const int workers = optional_value<int>(params, "workers").value_or(others);
  if (workers > others) {
    throw bad_parameter("workers", std::to_string(workers) + " workers and a master need " +
                                       std::to_string(workers + 1) + " ranks, and there are " +
                                       std::to_string(world.size()));
  }
  return {workers, params.at("batch").get<std::uint32_t>(), params.at("style") == "async",
          params.at("threads").get<int>()};
}

/// The kinds of unit; none where all are equal.
std::optional<Kinds> kinds_of(const Json& params) {
  const auto text = optional_value<std::string>(params, "kinds");
  return text ? std::optional<Kinds>(std::in_place, *text, params.at("seed").get<std::uint32_t>())
              : std::nullopt;
}

/// Units of a relative length.
std::unique_ptr<Work> work_of_length(const Json& params, double length) {
  const double bytes = std::max(1.0, std::round(params.at("bytes").get<double>() * length));
  return params.at("unit") == "sha1" ? sha1_work(static_cast<std::size_t>(bytes))
                                     : spin_work(params.at("spin_seconds").get<double>() * length);
}

std::unique_ptr<Work> own_work(const Json& params) {
  const auto make = [&](double length) { return work_of_length(params, length); };
  const auto kinds = kinds_of(params);
  return kinds ? work_of_kinds(*kinds, make) : make(1.0);
}

/// The master works alone, where it works; workers may be teams.
std::unique_ptr<Work> work_of(const World& world, const FarmPlan& plan, const Json& params) {
  if (world.root() || plan.threads == 1) {
    return own_work(params);
  }
  return std::make_unique<TeamWork>(plan.threads, [&] { return own_work(params); });
}

Json metric(const char* unit, double value) { return {{"unit", unit}, {"value", value}}; }

Json nothing(const char* unit, const char* reason) {
  return {{"unit", unit}, {"value", nullptr}, {"reason", reason}};
}

/// What the answer says of all workers.
class Report {
 public:
  /// `length`: the mean one of its units, relative to what was calibrated.
  Report(const World& world, const FarmPlan& plan, double unit_seconds, double length,
         const MasterTally& master, std::vector<WorkerTally> workers, std::vector<double> trips)
      : places_(world.places()),
        plan_(plan),
        unit_seconds_(unit_seconds),
        length_(length),
        master_(master),
        workers_(std::move(workers)),
        trips_(std::move(trips)) {}

  [[nodiscard]] Json metrics() const {
    const auto units = static_cast<double>(master_.units);
    const double alone = workers_.empty() ? unit_seconds_ : sum(&WorkerTally::unit_seconds) / count();
    const double crowd = std::max(1.0, count() * static_cast<double>(plan_.threads));
    const double efficiency = units * length_ * alone / (master_.seconds * crowd);
    Json metrics{{"seconds", metric("s", master_.seconds)}};
    metrics.update(of_messages());
    metrics["efficiency"] = metric("1", efficiency);
    metrics["unit"] =
        metric("s", workers_.empty() ? master_.seconds / units : sum(&WorkerTally::busy) / units);
    return metrics;
  }

  [[nodiscard]] Json by_worker() const {
    Json json = Json::object();
    json["units_done"] = each([](const WorkerTally& one) { return one.units; });
    json["busy"] = each([](const WorkerTally& one) { return one.busy; });
    json["wait"] = each([](const WorkerTally& one) { return one.wait; });
    json["overhead"] = each([](const WorkerTally& one) { return one.overhead(); });
    json["unit_alone"] = each([](const WorkerTally& one) { return one.unit_seconds; });
    json["timed_every"] = each([](const WorkerTally& one) { return one.stride; });
    json["batches"] = each([](const WorkerTally& one) { return one.batches; });
    json["trip"] = Json::array();
    json["nearness"] = Json::array();
    const auto trips = static_cast<std::ptrdiff_t>(workers_.empty() ? 0 : trips_.size() / workers_.size());
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      const auto own = trips_.begin() + (static_cast<std::ptrdiff_t>(i) * trips);
      json["trip"].push_back(median_of(std::vector<double>(own, own + trips)));
      const RankPlace& master = places_.front();
      const RankPlace& worker = places_[i + 1];
      json["nearness"].push_back(nearness(master.host, master.cpus, worker.host, worker.cpus));
    }
    return json;
  }

 private:
  [[nodiscard]] Json of_messages() const {
    if (workers_.empty()) {
      const char* reason = "a serial run has no messages";
      return {{"messages", nothing("Hz", reason)}, {"message_time", nothing("s", reason)},
              {"service", nothing("s", reason)},   {"idle", nothing("1", reason)},
              {"rtt", nothing("s", reason)},       {"worker_overhead", nothing("s", reason)}};
    }
    const auto messages = static_cast<double>(master_.messages);
    Json json{{"messages", metric("Hz", messages / master_.seconds)},
              {"message_time", metric("s", master_.seconds / messages)}};
    const char* blocking = "a blocking receive does not tell waiting from receiving";
    json["service"] =
        plan_.async ? metric("s", (master_.seconds - master_.idle) / messages) : nothing("s", blocking);
    json["idle"] = plan_.async ? metric("1", master_.idle / master_.seconds) : nothing("1", blocking);
    json["rtt"] = metric("s", median_of(trips_));
    json["worker_overhead"] = metric("s", overhead() / messages);
    return json;
  }

  [[nodiscard]] double overhead() const {
    return std::accumulate(workers_.begin(), workers_.end(), 0.0,
                           [](double total, const WorkerTally& one) { return total + one.overhead(); });
  }

  [[nodiscard]] double sum(double WorkerTally::*field) const {
    return std::accumulate(workers_.begin(), workers_.end(), 0.0,
                           [&](double total, const WorkerTally& one) { return total + one.*field; });
  }

  template <typename Value>
  [[nodiscard]] Json each(Value value) const {
    Json list = Json::array();
    for (const WorkerTally& one : workers_) {
      list.push_back(value(one));
    }
    return list;
  }

  [[nodiscard]] double count() const { return static_cast<double>(workers_.size()); }

  const std::vector<RankPlace>& places_;
  FarmPlan plan_;
  double unit_seconds_;
  double length_;
  MasterTally master_;
  std::vector<WorkerTally> workers_;
  std::vector<double> trips_;
};

/// What the units must give, and how that is known.
struct Expected {
  Digest sum;
  const char* how;
};

class Farm : public Replicate {
 public:
  Farm(const World& world, const Json& params)
      : world_(world), params_(params), plan_(plan_of(world, params)), work_(work_of(world, plan_, params)) {
    if (world.root()) {
      master_ = std::make_unique<FarmMaster>(world, plan_, *work_);
    } else {
      worker_ = std::make_unique<FarmWorker>(world, plan_, *work_);
    }
  }

  Outcome measure() override {
    if (worker_) {
      worker_->run();
      return {};
    }
    const std::uint32_t units = units_to_do();
    const Expected& right = expected(units);
    std::vector<double> trips = master_->round_trips();
    const MasterTally tally = master_->run(units);
    const auto kinds = kinds_of(params_);
    const double length = kinds ? kinds->mean(units) : 1.0;
    const Report report(world_, plan_, work_->seconds(), length, tally, tallies(), std::move(trips));
    master_->release();
    check_results(units, tally.units, right.sum, tally.sum);
    Json info{{"style", params_.at("style")}, {"workers", plan_.workers}, {"batch", plan_.batch},
              {"threads", plan_.threads},     {"units", units},           {"by", work_->by()},
              {"digest", hex(tally.sum)},     {"checked", right.how}};
    info["messages"] = tally.messages;
    if (kinds) {
      info["length"] = length;
    }
    info.update(report.by_worker());
    return {.metrics = report.metrics(), .seconds = tally.seconds, .info = std::move(info)};
  }

 private:
  [[nodiscard]] std::vector<WorkerTally> tallies() const {
    return plan_.workers == 0 ? std::vector<WorkerTally>{} : master_->tallies();
  }

  /// As asked; else so many that the workers have work for `seconds`.
  [[nodiscard]] std::uint32_t units_to_do() const {
    constexpr double kMessage = 1e-6;  // without any work a run must end, too
    constexpr double kBatches = 32;  // a worker: of fewer, the last ones, when some have no work left, count
    if (const auto given = optional_value<std::uint32_t>(params_, "units")) {
      return *given;
    }
    const double each = std::max(work_->seconds() / (plan_.threads * std::max(1, plan_.workers)),
                                 kMessage / static_cast<double>(plan_.batch));
    const double wanted = std::ceil(params_.at("seconds").get<double>() / each);
    const double least = kBatches * static_cast<double>(plan_.batch) * std::max(1, plan_.workers);
    return static_cast<std::uint32_t>(std::clamp(wanted, least, static_cast<double>(kMostUnits)));
  }

  /// Computed once for each work and number of units: a session repeats them.
  [[nodiscard]] const Expected& expected(std::uint32_t units) const {
    constexpr double kSerialSeconds = 2.0;
    static std::map<std::tuple<std::string, std::size_t, std::uint32_t>, Expected> known;
    const bool spin = params_.at("unit") == "spin";
    const std::string kinds = spin ? "" : params_.at("kinds").dump() + params_.at("seed").dump();
    const auto key = std::make_tuple(params_.at("unit").get<std::string>() + kinds,
                                     spin ? std::size_t{0} : params_.at("bytes").get<std::size_t>(), units);
    const auto found = known.find(key);
    if (found != known.end()) {
      return found->second;
    }
    const bool serial = spin || units * work_->seconds() <= kSerialSeconds;
    const Expected right{serial ? expected_sum(*work_, 0, units) : master_->sum_by_all(units),
                         serial ? "against a serial run" : "against contiguous shares of all ranks"};
    return known.emplace(key, right).first->second;
  }

  const World& world_;
  Json params_;
  FarmPlan plan_;
  std::unique_ptr<Work> work_;
  std::unique_ptr<FarmMaster> master_;
  std::unique_ptr<FarmWorker> worker_;
};

class FarmProbe : public RankProbe {
 public:
  FarmProbe()
      : RankProbe("farm", "farm", "A master deals work units out to workers, and takes their results in") {}

  [[nodiscard]] int least_ranks() const override { return 1; }

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr int kMostBatch = 1'000'000;
    constexpr int kMostBytes = 1 << 26;
    constexpr int kMostThreads = 256;
    return {
        {"workers", ParamType::kInt, "1", nullptr, 0, nullptr,
         "ranks that work, from 1 on; 0: rank 0 does it all, without a message [all others]"},
        {"batch", ParamType::kInt, "1", 1, 1, kMostBatch, "units a message"},
        {"units", ParamType::kInt, "1", nullptr, 1, kMostUnits,
         "to be done [work for `seconds`, and for 32 batches a worker]"},
        {"unit",
         ParamType::kStr,
         "",
         "sha1",
         nullptr,
         nullptr,
         "SHA-1 of data rebuilt from 4 bytes, or a calibrated spin",
         {"sha1", "spin"}},
        {"bytes", ParamType::kInt, "B", 32768, 1, kMostBytes, "of which a unit of sha1 takes the digest"},
        {"spin_seconds", ParamType::kFloat, "s", 1e-5, 0.0, 10.0, "that a unit of spin lasts"},
        {"style",
         ParamType::kStr,
         "",
         "async",
         nullptr,
         nullptr,
         "nonblocking and two batches a worker, or a receive from anybody and a send",
         {"async", "plain"}},
        {"threads", ParamType::kInt, "1", 1, 1, kMostThreads,
         "that do a worker's batches, its units shared out"},
        {"kinds", ParamType::kStr, "", nullptr, nullptr, nullptr,
         "of units, as 1:0.5,10:0.5: relative lengths and shares; the mean unit is as long as asked [one]"},
        {"seed", ParamType::kInt, "1", 1, 0, kMostUnits, "by which units are of which kind"},
    };
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"seconds", "s", "lower", "from the first word to the last quit message"},
            {"messages", "Hz", "higher", "batches that the master took in"},
            {"message_time", "s", "lower", "of the whole run, a message"},
            {"service", "s", "lower", "the master's own time a message"},
            {"idle", "1", "higher", "share of the time in which nobody had anything to say to the master"},
            {"rtt", "s", "lower", "round trip of an empty batch, just before"},
            {"worker_overhead", "s", "lower", "a worker's time a batch that is neither work nor waiting"},
            {"unit", "s", "lower", "of a unit, at the workers: a rank's time"},
            {"efficiency", "1", "higher", "the units' time alone over the workers' time"}};
  }

  [[nodiscard]] std::vector<int> ends(const World& world, const Json& params) const override {
    const int workers = optional_value<int>(params, "workers").value_or(world.size() - 1);
    return workers > 0 ? std::vector<int>{0, workers} : std::vector<int>{0};
  }

  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    return std::make_unique<Farm>(world, params);
  }
};

const Registered<RankProbe> registered_farm_probe{std::make_unique<FarmProbe>()};

}  // namespace
}  // namespace wulf::mpi
