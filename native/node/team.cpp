#include "node/team.hpp"

#include <algorithm>
#include <cmath>
#include <exception>
#include <mutex>
#include <string>

#include "core/affinity.hpp"
#include "core/error.hpp"
#include "core/threads.hpp"

namespace wulf::node {
namespace {

/// Operations done until `time`, which lies within the track.
double done_at(const Track& track, Nanoseconds time) {
  const auto after = std::lower_bound(track.begin(), track.end(), time,
                                      [](const Mark& m, Nanoseconds t) { return m.at < t; });
  if (after == track.begin()) {
    return static_cast<double>(after->done);
  }
  const auto before = after - 1;
  const double share = static_cast<double>(time - before->at) /
                       static_cast<double>(std::max<Nanoseconds>(after->at - before->at, 1));
  return static_cast<double>(before->done) + (share * static_cast<double>(after->done - before->done));
}

/// The length of a slot: some batches of the slowest thread, so that none is smeared over several.
Nanoseconds slot_of(const std::vector<Track>& tracks, Nanoseconds span) {
  constexpr Nanoseconds kBatches = 4;
  constexpr Nanoseconds kLeastSlots = 3;
  Nanoseconds slot = kMillisecond;
  for (const Track& track : tracks) {
    const auto batches = static_cast<Nanoseconds>(track.size() - 1);
    slot = std::max(slot, kBatches * (track.back().at - track.front().at) / batches);
  }
  return std::max<Nanoseconds>(std::min(slot, span / kLeastSlots), 1);
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
  Samples samples;
  if (end <= begin) {
    return samples;
  }
  const Nanoseconds slot = slot_of(tracks, end - begin);
  for (Nanoseconds at = begin; at + slot <= end; at += slot) {
    double done = 0;
    for (const Track& track : tracks) {
      done += done_at(track, at + slot) - done_at(track, at);
    }
    if (done > 0) {
      samples.add(to_seconds(slot) / done, static_cast<std::uint64_t>(std::llround(done)));
    }
  }
  return samples;
}

}  // namespace wulf::node
