#include "replay/engine_b/engine_b.hpp"

#include <algorithm>
#include <atomic>
#include <exception>

#include "core/host/threads.hpp"
#include "replay/engine_a/costs.hpp"
#include "replay/engine_b/replay.hpp"
#include "replay/run/engine.hpp"

namespace wulf::replay {
namespace {

/// Time-ordered: what ranks share is taken as it comes.
class EngineB final : public Engine {
 public:
  EngineB()
      : Engine("b",
               "time-ordered: NICs serve what comes first; links of a topology are shared, TCP's windows "
               "grow, wildcards take what comes first") {}

  [[nodiscard]] std::vector<Run> run(const Program& program, std::span<const Network> networks,
                                     const RunOptions& options) const override {
    return run_b_each(program, networks, options);
  }
};

const Registered<Engine> registered_engine_b{std::make_unique<EngineB>()};

}  // namespace

Run run_b(const Program& program, const Network& network, const RunOptions& options) {
  CostClasses(program, network.hosts).check(network);
  return options.parts ? TimeOrdered<TracedTime>(program, network).run(options.ends)
                       : TimeOrdered<BareTime>(program, network).run(options.ends);
}

std::vector<Run> run_b_each(const Program& program, std::span<const Network> networks,
                            const RunOptions& options) {
  std::vector<Run> runs(networks.size());
  std::vector<std::exception_ptr> failures(networks.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < networks.size(); i = next++) {
      try {
        runs[i] = run_b(program, networks[i], options);
      } catch (...) {
        failures[i] = std::current_exception();
      }
    }
  };
  {
    Threads threads;
    const std::size_t helpers = std::min<std::size_t>(std::max(options.threads, 1U), networks.size());
    for (std::size_t i = 1; i < helpers; ++i) {
      threads.start(work);
    }
    work();
  }
  for (const std::exception_ptr& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
  return runs;
}

}  // namespace wulf::replay
