#pragma once

#include <cstdint>
#include <vector>

#include "mpi/plain/farm/work.hpp"
#include "mpi/ranks/world.hpp"

namespace wulf::mpi {

/// What the master deals out, and how.
struct FarmPlan {
  int workers;          ///< ranks 1 … workers; 0 = the master does it all, without a message
  std::uint32_t batch;  ///< units a message
  bool async;           ///< nonblocking, two batches a worker; else a receive from anybody, and a send
  int threads;          ///< that do a worker's batches
};

/// What a worker says of itself after a run.
struct WorkerTally {
  double units = 0;
  double batches = 0;
  double elapsed = 0;  ///< from its greeting to its last quit message
  double busy = 0;     ///< computing; measured in every `stride`-th batch, and scaled
  double wait = 0;     ///< nothing was there to do
  double stride = 0;
  double unit_seconds = 0;  ///< a unit alone, calibrated before

  /// What is neither work nor waiting: receiving, sending, the loop.
  [[nodiscard]] double overhead() const { return elapsed - busy - wait; }
};

/// What the master knows after a run.
struct MasterTally {
  double seconds = 0;  ///< from the first word to the last worker's quit message
  double idle = 0;     ///< nobody had anything to say; meaningless unless plan.async
  std::uint64_t messages = 0;
  std::uint64_t units = 0;
  Digest sum{};
};

/// What rank 0 has the others do. They sleep in between.
enum class FarmOrder : std::int64_t {
  kEcho,     ///< answer so many empty batches
  kCheck,    ///< compute the share of so many units that the check gives this rank
  kFarm,     ///< be a worker
  kTally,    ///< say what came of it: the master receives anything from anybody while others still work
  kRelease,  ///< the replicate is over
};

/// The master's side: rank 0.
class FarmMaster {
 public:
  FarmMaster(const World& world, const FarmPlan& plan, Work& work);

  /// The round trips of empty batches with every worker in turn, in seconds: means over batches of them.
  [[nodiscard]] std::vector<double> round_trips() const;
  /// The right sum, computed by all ranks in contiguous shares.
  [[nodiscard]] Digest sum_by_all(std::uint32_t units) const;
  /// The farm itself.
  [[nodiscard]] MasterTally run(std::uint32_t units);
  /// What every worker has to say of it, by rank from 1 on. Once after each run.
  [[nodiscard]] std::vector<WorkerTally> tallies() const;
  /// All other ranks may go.
  void release() const;

 private:
  [[nodiscard]] double echo(int worker, std::int64_t trips) const;
  void order(int rank, FarmOrder order, std::int64_t count = 0) const;

  const World& world_;
  FarmPlan plan_;
  Work& work_;
  std::vector<std::uint32_t> inputs_;  ///< a batch of each slot
  std::vector<std::byte> results_;
};

/// Every other rank's side: does what rank 0 orders, until it is released.
class FarmWorker {
 public:
  FarmWorker(const World& world, const FarmPlan& plan, Work& work);

  void run();

 private:
  void echo(std::int64_t trips);
  void check(std::int64_t units);
  void farm();

  const World& world_;
  FarmPlan plan_;
  Work& work_;
  std::vector<std::uint32_t> inputs_;
  std::vector<std::byte> results_;
  WorkerTally tally_;
};

namespace farm {

// Tags of the messages.
inline constexpr int kOrder = 21;
inline constexpr int kAwake = 22;
inline constexpr int kGo = 23;
inline constexpr int kGreeting = 24;
inline constexpr int kWork = 25;
inline constexpr int kResult = 26;
inline constexpr int kQuit = 27;
inline constexpr int kTally = 28;
inline constexpr int kShare = 29;

/// Batches under way a worker where the master is asynchronous: one in work, and the next one.
inline constexpr int kDepth = 2;

/// True where there are more ranks on this rank's host than CPUs for them, each with so many threads.
[[nodiscard]] bool crowded(const World& world, int threads);

}  // namespace farm

}  // namespace wulf::mpi
