#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "core/host/affinity.hpp"
#include "core/time/clock.hpp"
#include "mpi/farm/farm.hpp"
#include "mpi/plain/farm/idle.hpp"
#include "mpi/plain/farm/sampled_time.hpp"
#include "mpi/ranks/patience.hpp"

namespace wulf::mpi {
namespace {

/// Counts what a worker does, reading the clock in every `stride`-th batch alone.
class Tally {
 public:
  Tally(double unit_seconds, const FarmPlan& plan)
      : stride_(sampling_stride(unit_seconds * plan.batch / plan.threads, clock_seconds())),
        unit_seconds_(unit_seconds),
        busy_(stride_) {}

  /// The digests of a batch, timed where its turn has come.
  void compute(Work& work, const std::uint32_t* inputs, int count, std::byte* results) {
    const bool timed = busy_.due();
    const Nanoseconds start = timed ? now() : 0;
    work.done({inputs, static_cast<std::size_t>(count)}, results);
    if (timed) {
      busy_.add(now() - start, static_cast<std::uint64_t>(count));
    } else {
      busy_.skip(static_cast<std::uint64_t>(count));
    }
    units_ += static_cast<std::uint64_t>(count);
    ++batches_;
  }

  /// `wait`: seconds in all. What was extrapolated can't be more than there was.
  [[nodiscard]] WorkerTally finish(double elapsed, double wait) const {
    const double busy = std::min(busy_.seconds(), elapsed);
    return {.units = static_cast<double>(units_),
            .batches = static_cast<double>(batches_),
            .elapsed = elapsed,
            .busy = busy,
            .wait = std::min(wait, elapsed - busy),
            .stride = static_cast<double>(stride_),
            .unit_seconds = unit_seconds_};
  }

  [[nodiscard]] std::uint64_t stride() const { return stride_; }

 private:
  /// What reading the clock costs here.
  static double clock_seconds() {
    static const double each = measure_clock().overhead;
    return each;
  }

  std::uint64_t stride_;
  double unit_seconds_;
  SampledTime busy_;
  std::uint64_t batches_ = 0;
  std::uint64_t units_ = 0;
};

/// Receive, compute, send; what a receive waits can't be told from what it receives.
WorkerTally plain_worker(const World& world, const FarmPlan& plan, Work& work, std::uint32_t* inputs,
                         std::byte* results) {
  Tally tally(work.seconds(), plan);
  const auto capacity = static_cast<int>(plan.batch);
  SampledTime waited(tally.stride());
  const Nanoseconds start = now();
  MPI_Send(nullptr, 0, MPI_BYTE, 0, farm::kGreeting, world.comm());
  while (true) {
    const bool timed = waited.due();
    const Nanoseconds before = timed ? now() : 0;
    MPI_Status status;
    MPI_Recv(inputs, capacity, MPI_UINT32_T, 0, MPI_ANY_TAG, world.comm(), &status);
    if (timed) {
      waited.add(now() - before);
    } else {
      waited.skip();
    }
    if (status.MPI_TAG == farm::kQuit) {
      break;
    }
    int count = 0;
    MPI_Get_count(&status, MPI_UINT32_T, &count);
    tally.compute(work, inputs, count, results);
    MPI_Send(results, count * static_cast<int>(kDigestBytes), MPI_BYTE, 0, farm::kResult, world.comm());
  }
  return tally.finish(to_seconds(now() - start), waited.seconds());
}

/// While one batch is in work, the next one is here or on its way, and the results of the one before leave.
class AsyncWorker {
 public:
  AsyncWorker(const World& world, const FarmPlan& plan, Work& work, std::uint32_t* inputs, std::byte* results)
      : comm_(world.comm()),
        batch_(plan.batch),
        work_(work),
        inputs_(inputs),
        results_(results),
        idle_(farm::crowded(world, plan.threads)),
        tally_(work.seconds(), plan) {}

  WorkerTally run() {
    const Nanoseconds start = now();
    for (std::size_t slot = 0; slot < farm::kDepth; ++slot) {
      receive(slot);
    }
    MPI_Send(nullptr, 0, MPI_BYTE, 0, farm::kGreeting, comm_);
    int open = farm::kDepth;
    for (std::size_t slot = 0; open > 0; slot = (slot + 1) % farm::kDepth) {
      open -= turn(slot) ? 0 : 1;
    }
    MPI_Waitall(farm::kDepth, sends_.data(), MPI_STATUSES_IGNORE);
    return tally_.finish(to_seconds(now() - start), idle_.seconds());
  }

 private:
  /// One batch; false where it was the slot's quit message. After the first of those only others follow.
  bool turn(std::size_t slot) {
    MPI_Status status;
    idle_.until([&] {
      int arrived = 0;
      MPI_Test(&receives_.at(slot), &arrived, &status);
      return arrived != 0;
    });
    if (status.MPI_TAG == farm::kQuit) {
      return false;
    }
    int count = 0;
    MPI_Get_count(&status, MPI_UINT32_T, &count);
    MPI_Wait(&sends_.at(slot), MPI_STATUS_IGNORE);
    std::byte* results = results_ + (slot * batch_ * kDigestBytes);
    tally_.compute(work_, inputs_ + (slot * batch_), count, results);
    MPI_Isend(results, count * static_cast<int>(kDigestBytes), MPI_BYTE, 0, farm::kResult, comm_,
              &sends_.at(slot));
    receive(slot);
    return true;
  }

  void receive(std::size_t slot) {
    MPI_Irecv(inputs_ + (slot * batch_), static_cast<int>(batch_), MPI_UINT32_T, 0, MPI_ANY_TAG, comm_,
              &receives_.at(slot));
  }

  MPI_Comm comm_;
  std::size_t batch_;
  Work& work_;
  std::uint32_t* inputs_;
  std::byte* results_;
  Idle idle_;
  Tally tally_;
  std::array<MPI_Request, farm::kDepth> receives_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<MPI_Request, farm::kDepth> sends_{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
};

/// Rank 0's next order and its count, waited for asleep: a rank that is not measured must not take a CPU.
std::array<std::int64_t, 2> next_order(const World& world) {
  const std::string text = receive_asleep(world.comm(), 0, farm::kOrder);
  std::array<std::int64_t, 2> order{};
  text.copy(reinterpret_cast<char*>(order.data()), sizeof(order));  // NOLINT: as the master sent it
  return order;
}

}  // namespace

bool farm::crowded(const World& world, int threads) {
  const RankPlace& mine = world.places()[static_cast<std::size_t>(world.rank())];
  long here = 0;
  long on_the_same = 0;
  for (const RankPlace& place : world.places()) {
    here += place.host == mine.host ? 1 : 0;
    on_the_same += place.host == mine.host && place.cpus == mine.cpus ? 1 : 0;
  }
  return here * threads > sysconf(_SC_NPROCESSORS_ONLN) ||
         on_the_same * threads > static_cast<long>(allowed_cpus().size());
}

FarmWorker::FarmWorker(const World& world, const FarmPlan& plan, Work& work)
    : world_(world),
      plan_(plan),
      work_(work),
      inputs_(static_cast<std::size_t>(farm::kDepth) * plan.batch),
      results_(inputs_.size() * kDigestBytes) {}

void FarmWorker::run() {
  while (true) {
    const auto [order, count] = next_order(world_);
    switch (static_cast<FarmOrder>(order)) {
      case FarmOrder::kEcho:
        echo(count);
        break;
      case FarmOrder::kCheck:
        check(count);
        break;
      case FarmOrder::kFarm:
        farm();
        break;
      case FarmOrder::kTally:
        MPI_Send(&tally_, sizeof(tally_), MPI_BYTE, 0, farm::kTally, world_.comm());
        break;
      case FarmOrder::kRelease:
        return;
    }
  }
}

void FarmWorker::echo(std::int64_t trips) {
  MPI_Send(nullptr, 0, MPI_BYTE, 0, farm::kAwake, world_.comm());
  for (std::int64_t i = 0; i < trips; ++i) {
    MPI_Recv(nullptr, 0, MPI_UINT32_T, 0, farm::kWork, world_.comm(), MPI_STATUS_IGNORE);
    MPI_Send(nullptr, 0, MPI_BYTE, 0, farm::kResult, world_.comm());
  }
}

void FarmWorker::check(std::int64_t units) {
  const Batch mine = share(static_cast<std::uint32_t>(units), world_.rank(), world_.size());
  const Digest part = expected_sum(work_, mine.first, mine.count);
  MPI_Send(part.data(), kDigestBytes, MPI_BYTE, 0, farm::kShare, world_.comm());
}

void FarmWorker::farm() {
  MPI_Send(nullptr, 0, MPI_BYTE, 0, farm::kAwake, world_.comm());
  MPI_Recv(nullptr, 0, MPI_BYTE, 0, farm::kGo, world_.comm(), MPI_STATUS_IGNORE);
  tally_ = plan_.async ? AsyncWorker(world_, plan_, work_, inputs_.data(), results_.data()).run()
                       : plain_worker(world_, plan_, work_, inputs_.data(), results_.data());
}

}  // namespace wulf::mpi
