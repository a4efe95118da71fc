#include "node/memory/random_access.hpp"

#include <bit>
#include <numeric>

#include "core/host/affinity.hpp"
#include "node/cpu/team.hpp"
#include "node/memory/pages.hpp"
#include "node/memory/working_set.hpp"
#include "node/probe.hpp"

namespace wulf::node {
namespace {

constexpr double kMostWrong = 0.01;  ///< of the words: HPCC's rule

struct Run {
  std::vector<Track> tracks;
  double wrong = 0;  ///< share of the words
};

/// All threads' updates of one table, then the same once more, which takes them back.
Run run_updates(std::span<std::uint64_t> table, const std::vector<int>& cpus, double seconds) {
  Run run{.tracks = std::vector<Track>(cpus.size())};
  std::vector<std::uint64_t> rounds(cpus.size(), 0);
  Window window(cpus.size(), seconds);
  const auto failed = [&window] { window.abort(); };
  run_team(
      cpus,
      [&](std::size_t rank) {
        Updates updates(table, rank);
        auto body = [&](std::uint64_t count) {
          updates.run(count);
          rounds[rank] += count;
        };
        run.tracks[rank] = follow(window, body, calibrate(body));
      },
      failed);
  run_team(
      cpus, [&](std::size_t rank) { Updates(table, rank).repeat(rounds[rank]); }, failed);
  run.wrong = static_cast<double>(wrong_words(table)) / static_cast<double>(table.size());
  return run;
}

/// HPCC's RandomAccess: random words of a table are changed, threads sharing one table. HPCC makes four
/// updates a word; here they are as many as fit into the time.
class RandomAccess final : public HostProbe {
 public:
  RandomAccess() : HostProbe("random-access", "cpu", "updates of random words of a table, as HPCC's") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr std::int64_t kMostBytes = 1LL << 44U;
    return {{"bytes", ParamType::kInt, "B", 1 << 26U, 1024, kMostBytes,
             "table; the power of two at or below is used"},
            threads_param(1),
            pages_param()};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override { return {{"rate", "Hz", "higher", "updates"}}; }

  [[nodiscard]] bool shares_set(const Json& params) const override { return params.at("threads") == 1; }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto asked = params.at("bytes").get<std::size_t>();
    const std::vector<int> cpus = team_cpus(params.at("threads").get<int>(), params.at("cpu").get<int>());
    const WorkingSet set(std::bit_floor(asked), params.at("pages").get<std::string>(), Contents::kAny,
                         helpers_of(cpus.front()));
    const auto table = set.as<std::uint64_t>();
    std::iota(table.begin(), table.end(), std::uint64_t{0});
    const Run run = run_updates(table, cpus, params.at("seconds").get<double>());
    const Samples samples = together(run.tracks);
    return {.metrics = {{"rate", metric_of(samples, run.wrong)}},
            .seconds = samples.spent(),
            .info = {
                {"pages", set.info()},
                {"bytes", set.size()},
                {"cpus", cpu_list(cpus)},
                {"look_ahead", kLookAhead},
                {"wrong", {{"unit", "1"}, {"value", run.wrong}, {"most", kMostWrong}}},
                {"variant", "as many updates as fit into the time, not four a word; threads share a table"}}};
  }

 private:
  static Json metric_of(const Samples& samples, double wrong) {
    if (samples.empty()) {
      return no_value("Hz", "the threads never ran at the same time: other work holds the CPUs");
    }
    if (wrong > kMostWrong) {
      return no_value("Hz", std::to_string(wrong) +
                                " of the table's words are wrong, more than HPCC's 0.01: "
                                "threads overwrote each other's updates; take a larger table");
    }
    return samples.rate("Hz", kLookAhead);
  }
};

const Registered<HostProbe> registered_random_access{std::make_unique<RandomAccess>()};

}  // namespace
}  // namespace wulf::node
