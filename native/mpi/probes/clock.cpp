#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "mpi/probe.hpp"
#include "mpi/time/clock_sync.hpp"

namespace wulf::mpi {
namespace {

constexpr double kToNano = 1e-9;

/// What a rank found, and the truth where it is known.
struct Found {
  double offset;
  double skew;
  double error;
  double skew_error;
  double missed_by;
  double missed_error;
  double shared;
};
constexpr int kFields = sizeof(Found) / sizeof(double);

/// The correction of clocks itself: learned over `seconds`, then looked at again.
class ClockCheck : public Replicate {
 public:
  ClockCheck(const World& world, const Json& params)
      : world_(world),
        seconds_(params.at("seconds").get<double>()),
        planted_(params.at("planted_offset").get<double>() != 0 ||
                 params.at("planted_skew").get<double>() != 0) {
    const bool odd = world.rank() % 2 == 1;
    clock_ = odd && planted_ ? planted_clock(now, from_seconds(params.at("planted_offset").get<double>()),
                                             params.at("planted_skew").get<double>())
                             : Clock(now);
  }

  Outcome measure() override {
    const Nanoseconds start = now();
    SyncSettings settings{.trust_host = !planted_};
    settings.learn.seconds = seconds_;
    const SharedClock shared = synchronise(world_.comm(), clock_, settings);
    const std::vector<Residual> again = residuals(world_.comm(), clock_, shared);
    const ClockModel& model = shared.model();
    const Sighting missed = missed_by(shared);
    const Found mine{.offset = static_cast<double>(model.offset) * kToNano,
                     .skew = model.skew,
                     .error = static_cast<double>(model.error) * kToNano,
                     .skew_error = model.skew_error,
                     .missed_by = static_cast<double>(missed.ahead) * kToNano,
                     .missed_error = static_cast<double>(missed.error) * kToNano,
                     .shared = shared.shared() ? 1.0 : 0.0};
    std::vector<Found> all(world_.root() ? static_cast<std::size_t>(world_.size()) : 0);
    MPI_Gather(&mine, kFields, MPI_DOUBLE, all.data(), kFields, MPI_DOUBLE, 0, world_.comm());
    Outcome outcome = world_.root() ? outcome_of(all, again) : Outcome{};
    outcome.seconds = to_seconds(now() - start);
    return outcome;
  }

 private:
  /// The model's idea of rank 0's clock less the clock without its planted error, which is rank 0's where all
  /// ranks are on one host. Of several readings the one between the closest two of the other clock.
  [[nodiscard]] static Sighting missed_by(const SharedClock& shared) {
    constexpr int kReadings = 20;
    std::vector<Exchange> readings(kReadings);
    for (Exchange& each : readings) {
      each = {now(), shared.now(), now()};
    }
    return fastest(readings);
  }

  [[nodiscard]] Outcome outcome_of(const std::vector<Found>& all, const std::vector<Residual>& again) const {
    Json ranks = Json::array();
    double error = 0;
    double drift = 0;
    double residual = 0;
    bool shared = true;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const Found& each = all[i];
      error = std::max(error, each.error);
      drift = std::max(drift, std::abs(each.skew));
      residual = std::max(residual, std::abs(again[i].seconds));
      shared = shared && each.shared == 1;
      Json rank{{"rank", i},
                {"shared", each.shared == 1},
                {"offset", each.offset},
                {"skew", each.skew},
                {"error", each.error},
                {"skew_error", each.skew_error},
                {"residual", again[i].seconds},
                {"residual_error", again[i].error}};
      if (planted_) {
        rank["missed_by"] = each.missed_by;
        rank["missed_error"] = each.missed_error;
      }
      ranks.push_back(std::move(rank));
    }
    Outcome outcome;
    const auto n = all.size();
    outcome.metrics["error"] = {{"unit", "s"}, {"value", error}, {"n", n}};
    outcome.metrics["residual"] = {{"unit", "s"}, {"value", residual}, {"n", n}};
    outcome.metrics["drift"] = {{"unit", "1"}, {"value", drift}, {"n", n}};
    outcome.info = {{"shared", shared}, {"ranks", std::move(ranks)}};
    if (shared) {
      outcome.info["note"] =
          "all ranks are on one host (equal boot id) and read one clock: nothing to correct";
    }
    return outcome;
  }

  const World& world_;
  double seconds_;
  bool planted_;
  Clock clock_;
};

class ClockProbe : public RankProbe {
 public:
  ClockProbe()
      : RankProbe("clock", "collective",
                  "How well rank 0's clock is known on all ranks, which synchronised starts rely on") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kMost = 1e6;
    constexpr double kSteepest = 0.01;
    return {{"planted_offset", ParamType::kFloat, "s", 0.0, -kMost, kMost,
             "makes the clocks of odd ranks wrong by so much, to see whether it is found"},
            {"planted_skew", ParamType::kFloat, "1", 0.0, -kSteepest, kSteepest,
             "makes them gain so many seconds a second, too"}};
  }
  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"error", "s", "lower", "the worst rank's bound on the offset's error: half of round trips"},
            {"residual", "s", "lower", "by how much new exchanges contradict the worst rank afterwards"},
            {"drift", "1", "lower", "the greatest drift between two clocks, seconds a second"}};
  }
  [[nodiscard]] int least_ranks() const override { return 1; }
  [[nodiscard]] std::unique_ptr<Replicate> prepare(const World& world, const Json& params) const override {
    return std::make_unique<ClockCheck>(world, params);
  }
};

const Registered<RankProbe> registered_clock_probe{std::make_unique<ClockProbe>()};

}  // namespace
}  // namespace wulf::mpi
