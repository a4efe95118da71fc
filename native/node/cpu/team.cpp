#include "node/cpu/team.hpp"

#include <algorithm>
#include <exception>
#include <mutex>
#include <string>

#include "core/host/affinity.hpp"
#include "core/host/threads.hpp"
#include "core/json/error.hpp"

namespace wulf::node {
namespace {

/// The batches of a track, as those whose middle lies between two times.
struct Batch {
  double seconds;
  std::uint64_t done;
  [[nodiscard]] double rate() const { return static_cast<double>(done) / seconds; }
};

std::vector<Batch> batches_within(const Track& track, Nanoseconds begin, Nanoseconds end) {
  std::vector<Batch> batches;
  for (std::size_t i = 1; i < track.size(); ++i) {
    const Mark& from = track[i - 1];
    const Mark& to = track[i];
    const Nanoseconds middle = from.at + ((to.at - from.at) / 2);
    if (middle >= begin && middle <= end) {
      batches.push_back({to_seconds(std::max<Nanoseconds>(to.at - from.at, 1)), to.done - from.done});
    }
  }
  return batches;
}

}  // namespace

Param threads_param(int preset) {
  constexpr int kMost = 8192;
  return {"threads",
          ParamType::kInt,
          "1",
          preset,
          0,
          kMost,
          "threads, each on a CPU of its own; 0 = one on every CPU allowed"};
}

std::vector<int> team_cpus(int threads, int first) {
  const std::vector<int> allowed = process_cpus();
  const std::size_t count = threads == 0 ? allowed.size() : static_cast<std::size_t>(threads);
  if (count > allowed.size()) {
    throw bad_parameter("threads", "threads is " + std::to_string(threads) +
                                       ", but this process may run on " + std::to_string(allowed.size()) +
                                       " CPUs only (" + cpu_list(allowed) +
                                       "): ask for fewer, or widen its affinity or cpuset");
  }
  std::vector<int> cpus{first};
  for (const int cpu : allowed) {
    if (cpu != first && cpus.size() < count) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

void run_team(const std::vector<int>& cpus, const std::function<void(std::size_t rank)>& body,
              const std::function<void()>& failed) {
  std::mutex mutex;
  std::exception_ptr first;
  const auto guarded = [&](std::size_t rank) {
    try {
      if (rank > 0) {
        pin_to_cpu(cpus[rank], "threads");
      }
      body(rank);
    } catch (...) {
      const std::lock_guard lock(mutex);
      first = first ? first : std::current_exception();
      failed();
    }
  };
  Threads threads;
  try {
    for (std::size_t rank = 1; rank < cpus.size(); ++rank) {
      threads.start([&guarded, rank] { guarded(rank); });
    }
  } catch (...) {
    failed();
    threads.join();
    throw;
  }
  guarded(0);
  threads.join();
  if (first) {
    std::rethrow_exception(first);
  }
}

void Window::begin() noexcept {
  Nanoseconds seen = last_begin_.load();
  const Nanoseconds time = now();
  while (seen < time && !last_begin_.compare_exchange_weak(seen, time)) {
  }
  missing_.fetch_sub(1);
}

bool Window::open(Nanoseconds time) const noexcept {
  return !aborted_.load(std::memory_order_relaxed) &&
         (missing_.load() > 0 || time < last_begin_.load(std::memory_order_relaxed) + length_);
}

Samples together(const std::vector<Track>& tracks) {
  Nanoseconds begin = 0;
  Nanoseconds end = tracks.front().back().at;
  for (const Track& track : tracks) {
    begin = std::max(begin, track.front().at);
    end = std::min(end, track.back().at);
  }
  std::vector<std::vector<Batch>> each;
  std::size_t least = tracks.front().size();
  for (const Track& track : tracks) {
    each.push_back(batches_within(track, begin, end));
    least = std::min(least, each.back().size());
  }
  Samples samples;
  for (std::size_t i = 0; i < least; ++i) {
    double rate = 0;
    std::uint64_t done = 0;
    for (const std::vector<Batch>& batches : each) {
      const Batch& batch = batches[i * batches.size() / least];
      rate += batch.rate();
      done += batch.done;
    }
    samples.add(1 / rate, done);
  }
  return samples;
}

}  // namespace wulf::node
