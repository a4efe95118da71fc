#include <algorithm>
#include <atomic>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "core/json/error.hpp"
#include "replay/engine_a/critical_path.hpp"
#include "replay/engine_a/workspace.hpp"
#include "replay/run/engine.hpp"

namespace wulf::replay {
namespace {

/// Networks that are run in one pass, since their ranks share the same hosts; and where their runs go.
struct Batch {
  const CostClasses* classes;
  std::vector<const Network*> networks;
  std::vector<Run*> runs;
};

/// The arrays of one thread; those for more lanes only once they are needed.
class Worker {
 public:
  Worker(const Program& program, const RunOptions& options) : program_(program), options_(options) {}

  void run(const Batch& batch) {
    if (options_.parts) {
      detailed(batch);
    } else if (batch.networks.size() == 1) {
      lanes(one_, batch);
    } else if (batch.networks.size() <= kLanes<Lanes4>) {
      lanes(four_, batch);
    } else {
      lanes(eight_, batch);
    }
  }

 private:
  template <typename V>
  void lanes(std::unique_ptr<Workspace<V>>& space, const Batch& batch) {
    if (!space) {
      space = std::make_unique<Workspace<V>>(
          program_, options_.ends ? Workspace<V>::Keeps::kEnds : Workspace<V>::Keeps::kTime);
    }
    space->run(*batch.classes, batch.networks);
    for (std::size_t lane = 0; lane < batch.runs.size(); ++lane) {
      read(*space, lane, *batch.runs[lane]);
    }
  }

  template <typename V>
  static Picoseconds in_lane(const V& value, [[maybe_unused]] std::size_t lane) {
    if constexpr (kLanes<V> == 1) {
      return value;
    } else {
      return value[lane];
    }
  }

  template <typename V>
  void read(const Workspace<V>& space, std::size_t lane, Run& run) const {
    run.time = in_lane(space.time(), lane);
    for (std::uint32_t rank = 0; options_.ends && rank < program_.ranks(); ++rank) {
      run.ends.push_back(in_lane(space.clock(rank), lane));
    }
    run.inversions = static_cast<std::uint64_t>(in_lane(space.inversions(), lane));
  }

  /// The critical path needs all operations' times, which are kept for one network at a time.
  void detailed(const Batch& batch) {
    if (!detailed_) {
      detailed_ = std::make_unique<Workspace<Lanes1>>(program_, Workspace<Lanes1>::Keeps::kAll);
    }
    for (std::size_t i = 0; i < batch.networks.size(); ++i) {
      detailed_->run(*batch.classes, {&batch.networks[i], 1});
      read(*detailed_, 0, *batch.runs[i]);
      batch.runs[i]->parts = parts_of(program_, *batch.classes, *detailed_);
    }
  }

  const Program& program_;
  const RunOptions& options_;
  std::unique_ptr<Workspace<Lanes1>> one_;
  std::unique_ptr<Workspace<Lanes4>> four_;
  std::unique_ptr<Workspace<Lanes8>> eight_;
  std::unique_ptr<Workspace<Lanes1>> detailed_;
};

/// Runs all batches in that many threads. Of several errors the first batch's is thrown, so that it is the
/// same for any number of threads.
void run_all(const Program& program, const std::vector<Batch>& batches, const RunOptions& options) {
  std::vector<std::exception_ptr> errors(batches.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    Worker worker(program, options);
    for (std::size_t i = next++; i < batches.size(); i = next++) {
      try {
        worker.run(batches[i]);
      } catch (...) {
        errors[i] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < std::min<std::size_t>(options.threads, batches.size()); ++i) {
      threads.emplace_back(work);
    }
    work();
  }
  for (const std::exception_ptr& error : errors) {
    if (error) {
      std::rethrow_exception(error);
    }
  }
}

/// Order-independent: a rank runs until it waits for something that is not yet sent.
class EngineA final : public Engine {
 public:
  EngineA()
      : Engine("a",
               "order-independent: several networks in one pass; NICs serve their ranks' waits in order") {}

  [[nodiscard]] std::vector<Run> run(const Program& program, std::span<const Network> networks,
                                     const RunOptions& options) const override {
    return run_a(program, networks, options);
  }
};

const Registered<Engine> registered_engine_a{std::make_unique<EngineA>()};

}  // namespace

void refuse_what_needs_b(const Program& program, std::span<const Network> networks) {
  if (program.live.count() > 0) {
    throw bad_parameter("engine",
                        "engine a can't match wildcard receives as the program runs, and this one has " +
                            std::to_string(program.live.count()) + " of them: ask engine b");
  }
  for (const Network& network : networks) {
    if (!network.topology.is_null() || !network.slow_start.is_null()) {
      throw bad_parameter("engine",
                          "the network '" + network.name +
                              "' has a topology or slow start, which engine a does not model: ask engine b");
    }
  }
}

std::vector<Run> run_a(const Program& program, std::span<const Network> networks, const RunOptions& options) {
  refuse_what_needs_b(program, networks);
  std::vector<Run> runs(networks.size());
  std::map<std::vector<std::uint32_t>, CostClasses> classes;  // by hosts
  std::map<const CostClasses*, std::size_t> open;             // their last batch, while it has room
  std::vector<Batch> batches;
  for (std::size_t i = 0; i < networks.size(); ++i) {
    const Network& network = networks[i];
    const CostClasses& shared = classes.try_emplace(network.hosts, program, network.hosts).first->second;
    shared.check(network);
    const auto found = open.find(&shared);
    if (found == open.end() || batches[found->second].runs.size() == kLanes<Lanes8>) {
      open[&shared] = batches.size();
      batches.push_back({&shared, {}, {}});
    }
    Batch& batch = batches[open[&shared]];
    batch.networks.push_back(&network);
    batch.runs.push_back(&runs[i]);
  }
  run_all(program, batches, options);
  return runs;
}

}  // namespace wulf::replay
