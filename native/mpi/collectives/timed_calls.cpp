#include "mpi/collectives/timed_calls.hpp"

#include <algorithm>
#include <array>

#include "mpi/plain/time/windows.hpp"

namespace wulf::mpi {
namespace {

/// What rank 0 tells all: the next batch; count 0 = no more.
struct CallBatch {
  Nanoseconds start = 0;
  Nanoseconds window = 0;
  std::int64_t count = 0;
};

/// One rank's time inside one call.
struct Stay {
  Nanoseconds start = 0;
  Nanoseconds end = 0;
};

/// A batch lasts so long, or a tenth of the whole measurement.
constexpr Nanoseconds kBatchTime = 10 * kMillisecond;

class Timer {
 public:
  Timer(MPI_Comm comm, const SharedClock& clock, double seconds, const std::function<void()>& call)
      : comm_(comm), clock_(clock), seconds_(from_seconds(seconds)), call_(call) {
    MPI_Comm_size(comm, &size_);
  }

  [[nodiscard]] Timed with_windows() {
    // a late start of a twentieth of what is measured is tolerated, and one of what a clock's reading takes
    constexpr Nanoseconds kShare = 20;
    const Nanoseconds estimate = a_call_takes();
    Windows windows(estimate, std::max(estimate / kShare, kMicrosecond));
    begin();
    while (true) {
      const CallBatch batch =
          agreed(next(windows.window(), windows.count(batch_time()), windows.times().size()));
      if (batch.count == 0) {
        break;
      }
      windows.take(batch.start, together(stays(batch)));
    }
    Timed timed{windows.times(), per_rank(windows.spent()), windows.skews(), windows.times().size()};
    timed.info = {{"window", to_seconds(windows.window())},
                  {"invalid", all_ - static_cast<std::int64_t>(timed.calls)},
                  {"late", windows.late()},
                  {"overrun", windows.overrun()}};
    return timed;
  }

  [[nodiscard]] Timed with_barrier() {
    Timed timed;
    const Nanoseconds estimate = a_call_takes();
    begin();
    while (true) {
      const CallBatch batch = agreed(next(0, count_for(2 * estimate), timed.times.size()));
      if (batch.count == 0) {
        break;
      }
      std::vector<Stay> stays;
      for (std::int64_t i = 0; i < batch.count; ++i) {
        MPI_Barrier(comm_);
        stays.push_back(stay());
      }
      for (const Call& call : together(stays)) {
        add(timed, call, 1);
      }
    }
    return timed;
  }

  [[nodiscard]] Timed back_to_back() {
    Timed timed;
    const Nanoseconds estimate = a_call_takes();
    begin();
    while (true) {
      constexpr std::int64_t kBatches = 10;
      const CallBatch batch =
          agreed(next(0, std::max<std::int64_t>(count_for(estimate) / kBatches, 1), timed.times.size()));
      if (batch.count == 0) {
        break;
      }
      MPI_Barrier(comm_);
      Stay whole{clock_.now(), 0};
      for (std::int64_t i = 0; i < batch.count; ++i) {
        call_();
      }
      whole.end = clock_.now();
      add(timed, together({whole}).front(), batch.count);
    }
    return timed;
  }

 private:
  void begin() { began_ = wulf::now(); }

  [[nodiscard]] Nanoseconds batch_time() const {
    constexpr Nanoseconds kParts = 10;
    return std::max(std::min(kBatchTime, seconds_ / kParts), kMicrosecond);
  }

  [[nodiscard]] std::int64_t count_for(Nanoseconds each) const {
    constexpr Nanoseconds kMost = 1000;
    return std::clamp<Nanoseconds>(batch_time() / std::max<Nanoseconds>(each, 1), 1, kMost);
  }

  /// Rank 0: the next batch, unless it has been enough. Where hardly a sample is valid it ends all the same.
  [[nodiscard]] CallBatch next(Nanoseconds window, std::int64_t count, std::size_t valid) const {
    constexpr std::size_t kLeast = 5;
    constexpr Nanoseconds kPatience = 5;
    const Nanoseconds spent = wulf::now() - began_;
    if (spent >= seconds_ && (valid >= kLeast || spent >= (kPatience * seconds_) + kSecond)) {
      return {};
    }
    // the first start lies so far ahead that this message has then reached all
    constexpr Nanoseconds kLead = 200 * kMicrosecond;
    return {clock_.now() + std::max(kLead, window), window, count};
  }

  CallBatch agreed(CallBatch batch) {
    MPI_Bcast(&batch, sizeof batch, MPI_BYTE, 0, comm_);
    all_ += batch.count;
    return batch;
  }

  [[nodiscard]] std::vector<Stay> stays(const CallBatch& batch) const {
    std::vector<Stay> list(static_cast<std::size_t>(batch.count));
    Nanoseconds due = batch.start;
    for (Stay& each : list) {
      clock_.wait_until(due);
      each = stay();
      due += batch.window;
    }
    return list;
  }

  [[nodiscard]] Stay stay() const {
    Stay stay{clock_.now(), 0};
    call_();
    stay.end = clock_.now();
    return stay;
  }

  /// All ranks' stays as calls, on rank 0; without meaning on the others.
  [[nodiscard]] std::vector<Call> together(const std::vector<Stay>& mine) const {
    std::vector<Nanoseconds> greatest;
    std::vector<Nanoseconds> sums;
    for (const Stay& each : mine) {
      greatest.insert(greatest.end(), {-each.start, each.start, each.end});
      sums.push_back(each.end - each.start);
    }
    std::vector<Nanoseconds> all(greatest.size());
    std::vector<Nanoseconds> spent(sums.size());
    MPI_Reduce(greatest.data(), all.data(), static_cast<int>(all.size()), MPI_INT64_T, MPI_MAX, 0, comm_);
    MPI_Reduce(sums.data(), spent.data(), static_cast<int>(spent.size()), MPI_INT64_T, MPI_SUM, 0, comm_);
    std::vector<Call> calls;
    calls.reserve(spent.size());
    for (std::size_t i = 0; i < spent.size(); ++i) {
      calls.push_back({-all[3 * i], all[(3 * i) + 1], all[(3 * i) + 2], spent[i]});
    }
    return calls;
  }

  void add(Timed& timed, const Call& call, std::int64_t calls) const {
    const auto each = static_cast<double>(calls);
    timed.times.push_back(to_seconds(call.last_end - call.first_start) / each);
    timed.locals.push_back(to_seconds(call.spent) / each / size_);
    timed.skews.push_back(to_seconds(call.last_start - call.first_start));
    timed.calls += static_cast<std::size_t>(calls);
  }

  [[nodiscard]] std::vector<double> per_rank(std::vector<double> sums) const {
    for (double& sum : sums) {
      sum /= size_;
    }
    return sums;
  }

  /// The median of some calls, the slowest rank's, on every rank. The first ones set up connections.
  [[nodiscard]] Nanoseconds a_call_takes() const {
    constexpr int kWarm = 2;
    std::array<Nanoseconds, 5> takes{};
    for (int i = -kWarm; i < static_cast<int>(takes.size()); ++i) {
      MPI_Barrier(comm_);
      const Stay once = stay();
      if (i >= 0) {
        takes.at(static_cast<std::size_t>(i)) = once.end - once.start;
      }
    }
    MPI_Allreduce(MPI_IN_PLACE, takes.data(), static_cast<int>(takes.size()), MPI_INT64_T, MPI_MAX, comm_);
    std::sort(takes.begin(), takes.end());
    return takes[takes.size() / 2];
  }

  MPI_Comm comm_;
  const SharedClock& clock_;
  Nanoseconds seconds_;
  const std::function<void()>& call_;
  int size_ = 1;
  Nanoseconds began_ = 0;
  std::int64_t all_ = 0;  ///< samples, valid or not
};

}  // namespace

Timed time_calls(MPI_Comm comm, const SharedClock& clock, Start start, double seconds,
                 const std::function<void()>& call) {
  Timer timer(comm, clock, seconds, call);
  switch (start) {
    case Start::kWindow:
      return timer.with_windows();
    case Start::kBarrier:
      return timer.with_barrier();
    case Start::kNone:
      break;
  }
  return timer.back_to_back();
}

}  // namespace wulf::mpi
