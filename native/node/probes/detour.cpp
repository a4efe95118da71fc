#include <algorithm>
#include <cmath>

#include "node/probe.hpp"
#include "node/time/noise.hpp"
#include "node/time/ticks.hpp"
#include "node/time/watch.hpp"

namespace wulf::node {
namespace {

constexpr double kUsualThreshold = 9;  // of the selfish detour benchmark

/// The selfish detour benchmark.
class Detour final : public HostProbe {
 public:
  Detour()
      : HostProbe("detour", "noise", "what takes the CPU from a loop that does nothing but watch the time") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kMost = 1e6;
    return {{"threshold", ParamType::kFloat, "1", 0.0, 0.0, kMost,
             "a detour is longer than so many times the least step of the loop (0: 9 times)"}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"lost", "1", "lower", "share of the time that detours took"},
            {"worst", "s", "lower", "the longest time between two looks"},
            {"detours", "Hz", "lower", "how often"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto asked = params.at("threshold").get<double>();
    const double threshold = asked > 0 ? std::max(asked, 1.0) : kUsualThreshold;
    const TickRate rate;
    const std::uint64_t minimum = least_step();
    const double seconds = std::max(params.at("seconds").get<double>(), 1e-3);
    const auto span = static_cast<std::uint64_t>(seconds / rate.seconds_each());
    const Watch seen =
        watch(span, minimum, static_cast<std::uint64_t>(std::ceil(threshold * static_cast<double>(minimum))));
    return described(seen, threshold, rate.seconds_each());
  }

 private:
  [[nodiscard]] static Outcome described(const Watch& seen, double threshold, double tick) {
    constexpr std::size_t kShown = 5;
    const Detours detours = analyse_detours(seen.gaps, seen.minimum, seen.longest, seen.elapsed, tick);
    return {.metrics = {{"lost", {{"unit", "1"}, {"value", detours.lost}, {"n", seen.gaps.size()}}},
                        {"worst", {{"unit", "s"}, {"value", detours.worst}}},
                        {"detours", {{"unit", "Hz"}, {"value", detours.rate}, {"n", seen.gaps.size()}}}},
            .seconds = static_cast<double>(seen.elapsed) * tick,
            .info = {{"threshold", threshold},
                     {"step", {{"unit", "s"}, {"value", static_cast<double>(seen.minimum) * tick}}},
                     {"stopped_early", seen.gaps.size() == kMostGaps},
                     {"longest", longest_gaps(seen.gaps, kShown, tick)}}};
  }
};

const Registered<HostProbe> registered_detour{std::make_unique<Detour>()};

}  // namespace
}  // namespace wulf::node
