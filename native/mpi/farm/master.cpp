#include <algorithm>
#include <array>

#include "core/time/clock.hpp"
#include "mpi/farm/farm.hpp"
#include "mpi/plain/farm/idle.hpp"

namespace wulf::mpi {
namespace {

/// What all ways of being a master share: dealing out, and taking results in.
class Dealer {
 public:
  Dealer(const World& world, const FarmPlan& plan, std::uint32_t units)
      : world_(world), plan_(plan), handout_(units, plan.batch) {}

  /// The next batch's inputs into `inputs`; how many they are.
  int next(std::uint32_t* inputs) {
    const Batch batch = handout_.next();
    for (std::uint32_t i = 0; i < batch.count; ++i) {
      inputs[i] = batch.first + i;
    }
    return static_cast<int>(batch.count);
  }

  void take(const std::byte* results, const MPI_Status& status) {
    int bytes = 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    fold(tally_.sum, {results, static_cast<std::size_t>(bytes)});
    tally_.units += static_cast<std::size_t>(bytes) / kDigestBytes;
    ++tally_.messages;
  }

  /// Everybody's clock starts here.
  void start() {
    started_ = now();
    for (int worker = 1; worker <= plan_.workers; ++worker) {
      MPI_Send(nullptr, 0, MPI_BYTE, worker, farm::kGo, world_.comm());
    }
  }

  MasterTally& finish() {
    tally_.seconds = to_seconds(now() - started_);
    return tally_;
  }

  [[nodiscard]] MPI_Comm comm() const { return world_.comm(); }
  [[nodiscard]] int capacity() const { return static_cast<int>(plan_.batch * kDigestBytes); }

 private:
  const World& world_;
  FarmPlan plan_;
  Handout handout_;
  MasterTally tally_;
  Nanoseconds started_ = 0;
};

/// The loop of 2007: receive from anybody, answer.
MasterTally plain_master(Dealer& dealer, int workers, std::uint32_t* inputs, std::byte* results) {
  dealer.start();
  int active = workers;
  while (active > 0) {
    MPI_Status status;
    MPI_Recv(results, dealer.capacity(), MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, dealer.comm(), &status);
    if (status.MPI_TAG == farm::kResult) {
      dealer.take(results, status);
    }
    const int count = dealer.next(inputs);
    MPI_Send(inputs, count, MPI_UINT32_T, status.MPI_SOURCE, count > 0 ? farm::kWork : farm::kQuit,
             dealer.comm());
    active -= count > 0 ? 0 : 1;
  }
  return dealer.finish();
}

/// A receive is posted for every batch that is under way; whoever has answered gets the next batch before its
/// results are looked at. Slot s belongs to worker 1 + s / kDepth; a worker's first slot takes its greeting.
class AsyncMaster {
 public:
  AsyncMaster(Dealer& dealer, const FarmPlan& plan, std::uint32_t* inputs, std::byte* results, bool yielding)
      : dealer_(dealer),
        batch_(plan.batch),
        inputs_(inputs),
        results_(results),
        idle_(yielding),
        receives_(static_cast<std::size_t>(plan.workers) * farm::kDepth, MPI_REQUEST_NULL),
        sends_(receives_.size(), MPI_REQUEST_NULL),
        ready_(receives_.size()),
        statuses_(receives_.size()) {}

  MasterTally run() {
    dealer_.start();
    for (std::size_t slot = 0; slot < receives_.size(); slot += farm::kDepth) {
      receive(slot);
    }
    while (true) {
      int count = 0;
      idle_.until([&] {
        MPI_Testsome(length(), receives_.data(), &count, ready_.data(), statuses_.data());
        return count != 0;  // MPI_UNDEFINED, which is not 0: no receive is posted any more
      });
      if (count == MPI_UNDEFINED) {
        break;
      }
      for (int i = 0; i < count; ++i) {
        answer(static_cast<std::size_t>(ready_[static_cast<std::size_t>(i)]),
               statuses_[static_cast<std::size_t>(i)]);
      }
    }
    MPI_Waitall(length(), sends_.data(), MPI_STATUSES_IGNORE);
    MasterTally& tally = dealer_.finish();
    tally.idle = std::min(idle_.seconds(), tally.seconds);
    return tally;
  }

 private:
  void answer(std::size_t slot, const MPI_Status& status) {
    if (status.MPI_TAG == farm::kGreeting) {
      for (std::size_t each = slot; each < slot + farm::kDepth; ++each) {
        if (give(each)) {
          receive(each);
        }
      }
      return;
    }
    const bool more = give(slot);
    dealer_.take(result(slot), status);
    if (more) {
      receive(slot);
    }
  }

  /// The slot's next batch is under way; false where it was the quit message.
  bool give(std::size_t slot) {
    MPI_Wait(&sends_[slot], MPI_STATUS_IGNORE);  // over long since: its results have come
    std::uint32_t* inputs = inputs_ + (slot * batch_);
    const int count = dealer_.next(inputs);
    MPI_Isend(inputs, count, MPI_UINT32_T, worker(slot), count > 0 ? farm::kWork : farm::kQuit,
              dealer_.comm(), &sends_[slot]);
    return count > 0;
  }

  void receive(std::size_t slot) {
    MPI_Irecv(result(slot), dealer_.capacity(), MPI_BYTE, worker(slot), MPI_ANY_TAG, dealer_.comm(),
              &receives_[slot]);
  }

  [[nodiscard]] std::byte* result(std::size_t slot) const {
    return results_ + (slot * batch_ * kDigestBytes);
  }
  [[nodiscard]] static int worker(std::size_t slot) { return 1 + static_cast<int>(slot / farm::kDepth); }
  [[nodiscard]] int length() const { return static_cast<int>(receives_.size()); }

  Dealer& dealer_;
  std::size_t batch_;
  std::uint32_t* inputs_;
  std::byte* results_;
  Idle idle_;
  std::vector<MPI_Request> receives_;
  std::vector<MPI_Request> sends_;
  std::vector<int> ready_;
  std::vector<MPI_Status> statuses_;
};

/// Batches under way at a time, all workers together; one for the master that does it all itself.
std::size_t slots(const FarmPlan& plan) {
  return plan.async ? static_cast<std::size_t>(std::max(1, plan.workers)) * farm::kDepth : 1;
}

}  // namespace

FarmMaster::FarmMaster(const World& world, const FarmPlan& plan, Work& work)
    : world_(world),
      plan_(plan),
      work_(work),
      inputs_(slots(plan) * plan.batch),
      results_(slots(plan) * plan.batch * kDigestBytes) {}

void FarmMaster::order(int rank, FarmOrder order, std::int64_t count) const {
  const std::array<std::int64_t, 2> text{static_cast<std::int64_t>(order), count};
  MPI_Send(text.data(), static_cast<int>(sizeof(text)), MPI_CHAR, rank, farm::kOrder, world_.comm());
}

double FarmMaster::echo(int worker, std::int64_t trips) const {
  order(worker, FarmOrder::kEcho, trips);
  MPI_Recv(nullptr, 0, MPI_BYTE, worker, farm::kAwake, world_.comm(), MPI_STATUS_IGNORE);
  const Nanoseconds start = now();
  for (std::int64_t i = 0; i < trips; ++i) {
    MPI_Send(nullptr, 0, MPI_UINT32_T, worker, farm::kWork, world_.comm());
    MPI_Recv(nullptr, 0, MPI_BYTE, worker, farm::kResult, world_.comm(), MPI_STATUS_IGNORE);
  }
  return to_seconds(now() - start) / static_cast<double>(trips);
}

std::vector<double> FarmMaster::round_trips() const {
  constexpr std::int64_t kWarm = 20;
  constexpr double kBatchSeconds = 1e-4;
  constexpr int kBatches = 5;
  std::vector<double> trips;
  for (int worker = 1; worker <= plan_.workers; ++worker) {
    (void)echo(worker, kWarm);
    const double each = echo(worker, kWarm);
    const auto count = static_cast<std::int64_t>(kBatchSeconds / each) + kWarm;
    for (int i = 0; i < kBatches; ++i) {
      trips.push_back(echo(worker, count));
    }
  }
  return trips;
}

Digest FarmMaster::sum_by_all(std::uint32_t units) const {
  for (int rank = 1; rank < world_.size(); ++rank) {
    order(rank, FarmOrder::kCheck, units);
  }
  const Batch mine = share(units, 0, world_.size());
  Digest sum = expected_sum(work_, mine.first, mine.count);
  for (int rank = 1; rank < world_.size(); ++rank) {
    Digest part{};
    MPI_Recv(part.data(), kDigestBytes, MPI_BYTE, rank, farm::kShare, world_.comm(), MPI_STATUS_IGNORE);
    fold(sum, part);
  }
  return sum;
}

MasterTally FarmMaster::run(std::uint32_t units) {
  if (plan_.workers == 0) {
    MasterTally tally{.units = units};
    const Nanoseconds start = now();
    for (std::uint32_t i = 0; i < units; ++i) {
      work_.done({&i, 1}, results_.data());
      fold(tally.sum, {results_.data(), kDigestBytes});
    }
    tally.seconds = to_seconds(now() - start);
    return tally;
  }
  Dealer dealer(world_, plan_, units);
  for (int worker = 1; worker <= plan_.workers; ++worker) {
    order(worker, FarmOrder::kFarm);
  }
  for (int worker = 1; worker <= plan_.workers; ++worker) {
    MPI_Recv(nullptr, 0, MPI_BYTE, worker, farm::kAwake, world_.comm(), MPI_STATUS_IGNORE);
  }
  if (!plan_.async) {
    return plain_master(dealer, plan_.workers, inputs_.data(), results_.data());
  }
  return AsyncMaster(dealer, plan_, inputs_.data(), results_.data(), farm::crowded(world_, plan_.threads))
      .run();
}

std::vector<WorkerTally> FarmMaster::tallies() const {
  std::vector<WorkerTally> all(static_cast<std::size_t>(plan_.workers));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const int worker = static_cast<int>(i) + 1;
    order(worker, FarmOrder::kTally);
    MPI_Recv(&all[i], sizeof(WorkerTally), MPI_BYTE, worker, farm::kTally, world_.comm(), MPI_STATUS_IGNORE);
  }
  return all;
}

void FarmMaster::release() const {
  for (int rank = 1; rank < world_.size(); ++rank) {
    order(rank, FarmOrder::kRelease);
  }
}

}  // namespace wulf::mpi
