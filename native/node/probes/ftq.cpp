#include <algorithm>

#include "node/probe.hpp"
#include "node/time/noise.hpp"
#include "node/time/ticks.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kLeastQuanta = 10;

/// How many units of work fit into each of `count` successive spans of so many ticks.
std::vector<std::uint64_t> work_of(std::size_t count, std::uint64_t span) {
  std::vector<std::uint64_t> work(count);
  std::uint64_t end = ticks();
  for (std::uint64_t& done : work) {
    end += span;
    std::uint64_t units = 0;
    while (ticks() < end) {
      ++units;
      keep(units);
    }
    done = units;  // 0 where we were away for the whole of it
  }
  return work;
}

/// The fixed time quanta benchmark.
class Ftq final : public HostProbe {
 public:
  Ftq() : HostProbe("ftq", "noise", "how much work fits into equal times, one after the other") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kUsual = 1e-4;
    constexpr double kShortest = 1e-5;
    constexpr double kLongest = 0.1;
    return {{"quantum", ParamType::kFloat, "s", kUsual, kShortest, kLongest,
             "one of the equal times; at least ten are taken"}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"lost", "1", "lower", "share of the work that could be done at the best quantum's rate"},
            {"worst", "s", "lower", "the most that one quantum lacks, or several about empty ones"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto quantum = params.at("quantum").get<double>();
    const auto wanted = static_cast<std::size_t>(params.at("seconds").get<double>() / quantum);
    const std::size_t count = std::max(wanted, kLeastQuanta);
    const TickRate rate;
    (void)work_of(1, 1U << 20U);  // the warm-up, by which the tick is known well enough, too
    const auto span = static_cast<std::uint64_t>(quantum / rate.seconds_each());
    const std::vector<std::uint64_t> work = work_of(count, span);
    const std::uint64_t most = *std::max_element(work.begin(), work.end());
    const double seconds = static_cast<double>(count) * quantum;
    if (most == 0) {
      const char* reason = "no work at all could be done: the counter is too slow, or the CPU was away";
      return {.metrics = {{"lost", no_value("1", reason)}, {"worst", no_value("s", reason)}},
              .seconds = seconds,
              .info = Json::object()};
    }
    const Quanta quanta = analyse_quanta(work, quantum);
    return {.metrics = {{"lost", {{"unit", "1"}, {"value", quanta.lost}, {"n", count}}},
                        {"worst", {{"unit", "s"}, {"value", quanta.worst}, {"n", count}}}},
            .seconds = seconds,
            .info = {{"most_work", most}}};
  }
};

const Registered<HostProbe> registered_ftq{std::make_unique<Ftq>()};

}  // namespace
}  // namespace wulf::node
