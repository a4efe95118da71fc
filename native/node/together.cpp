#include "node/together.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <exception>
#include <memory>
#include <numeric>
#include <system_error>
#include <thread>

#include "core/clock.hpp"
#include "core/error.hpp"
#include "node/timing.hpp"

namespace wulf::node {
namespace {

constexpr int kMostCpus = 8192;  // the kernel's CONFIG_NR_CPUS limit on x86-64

struct FreeSet {
  void operator()(cpu_set_t* set) const { CPU_FREE(set); }
};
using CpuSet = std::unique_ptr<cpu_set_t, FreeSet>;

CpuSet empty_set() {
  CpuSet set(CPU_ALLOC(kMostCpus));
  CPU_ZERO_S(CPU_ALLOC_SIZE(kMostCpus), set.get());
  return set;
}

/// Binds the calling thread, which a parent that is bound to another CPU has started: pin_to_cpu would
/// refuse.
void bind_to(int cpu) {
  const CpuSet set = empty_set();
  CPU_SET_S(static_cast<std::size_t>(cpu), CPU_ALLOC_SIZE(kMostCpus), set.get());
  if (sched_setaffinity(0, CPU_ALLOC_SIZE(kMostCpus), set.get()) != 0) {
    throw system_error("internal", "cannot bind a thread to CPU " + std::to_string(cpu), errno);
  }
}

/// Where the threads wait for each other.
struct Gate {
  static constexpr Nanoseconds kClosed = 0;
  static constexpr Nanoseconds kCancelled = -1;

  std::atomic<std::size_t> ready{0};
  std::atomic<Nanoseconds> start{kClosed};

  /// Says that this thread is ready; true when all begin, false when they don't.
  bool wait() {
    ready.fetch_add(1);
    ready.notify_one();
    start.wait(kClosed);
    const Nanoseconds begin = start.load();
    while (begin != kCancelled && now() < begin) {  // waking up takes each another time
    }
    return begin != kCancelled;
  }

  void open(std::size_t threads) {
    constexpr Nanoseconds kLead = kMillisecond;  // more than it takes to wake up
    for (std::size_t seen = ready.load(); seen < threads; seen = ready.load()) {
      ready.wait(seen);
    }
    release(now() + kLead);
  }

  void release(Nanoseconds when) {
    start.store(when);
    start.notify_all();
  }
};

struct Worker {
  Share share;
  std::exception_ptr failure;
  std::thread thread;

  void run(Gate& gate, const std::function<void(std::uint64_t)>& work, double seconds) {
    std::uint64_t count = 1;
    try {
      bind_to(share.cpu);
      count = calibrate(work);
    } catch (...) {
      failure = std::current_exception();
    }
    if (!gate.wait() || failure) {
      return;
    }
    const Nanoseconds begin = now();
    const Nanoseconds end = begin + from_seconds(seconds);
    Nanoseconds time = begin;
    do {
      work(count);
      share.operations += count;
      time = now();
    } while (time < end);
    share.seconds = to_seconds(time - begin);
  }
};

void start_all(std::vector<Worker>& workers, Gate& gate, const std::function<void(std::uint64_t)>& work,
               double seconds) {
  try {
    for (Worker& worker : workers) {
      worker.thread = std::thread([&] { worker.run(gate, work, seconds); });
    }
  } catch (const std::system_error& error) {
    gate.release(Gate::kCancelled);
    for (Worker& worker : workers) {
      if (worker.thread.joinable()) {
        worker.thread.join();
      }
    }
    throw Error("limit", "the system gives no thread for each of " + std::to_string(workers.size()) +
                             " CPUs (" + error.what() + "); measure with fewer threads, or raise its limit");
  }
}

}  // namespace

std::vector<int> process_cpus() {
  const CpuSet set = empty_set();
  // of the first thread, which is bound to nothing: the calling one is, to what it measures on
  if (sched_getaffinity(getpid(), CPU_ALLOC_SIZE(kMostCpus), set.get()) != 0) {
    throw system_error("internal", "sched_getaffinity", errno);
  }
  std::vector<int> cpus;
  for (int cpu = 0; cpu < kMostCpus; ++cpu) {
    if (CPU_ISSET_S(static_cast<std::size_t>(cpu), CPU_ALLOC_SIZE(kMostCpus), set.get())) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

Param threads_param() {
  return {"threads",
          ParamType::kInt,
          "1",
          1,
          0,
          kMostCpus,
          "how many CPUs measure at the same time, one thread on each: 0 = all"};
}

std::vector<int> chosen_cpus(const Json& params) {
  const auto threads = params.at("threads").get<std::size_t>();
  if (threads == 1) {
    return {params.at("cpu").get<int>()};
  }
  std::vector<int> cpus = process_cpus();
  if (threads > cpus.size()) {
    throw bad_parameter("threads", std::to_string(threads) + " threads are more than the " +
                                       std::to_string(cpus.size()) + " CPUs that this process may use");
  }
  if (threads > 0) {
    cpus.resize(threads);
  }
  return cpus;
}

std::vector<Share> run_together(const std::vector<int>& cpus, const std::function<void(std::uint64_t)>& work,
                                double seconds) {
  Gate gate;
  std::vector<Worker> workers(cpus.size());
  for (std::size_t i = 0; i < cpus.size(); ++i) {
    workers[i].share.cpu = cpus[i];
  }
  start_all(workers, gate, work, seconds);
  gate.open(workers.size());
  std::vector<Share> shares;
  for (Worker& worker : workers) {
    worker.thread.join();
    shares.push_back(worker.share);
  }
  for (const Worker& worker : workers) {
    if (worker.failure) {
      std::rethrow_exception(worker.failure);
    }
  }
  return shares;
}

Json rate_together(const std::vector<Share>& shares, const std::string& unit, double per_operation) {
  std::vector<double> rates;
  std::uint64_t operations = 0;
  for (const Share& share : shares) {
    rates.push_back(static_cast<double>(share.operations) * per_operation / share.seconds);
    operations += share.operations;
  }
  const auto [least, most] = std::minmax_element(rates.begin(), rates.end());
  return {{"unit", unit},
          {"value", std::accumulate(rates.begin(), rates.end(), 0.0)},
          {"n", operations},
          {"min", *least},
          {"max", *most}};
}

}  // namespace wulf::node
