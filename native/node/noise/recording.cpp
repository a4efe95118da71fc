#include "node/noise/recording.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <ctime>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>

#include "core/host/affinity.hpp"
#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "node/noise/account.hpp"
#include "node/noise/stolen.hpp"
#include "node/noise/symbols.hpp"
#include "node/noise/tracer.hpp"
#include "node/os/unavailable.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kPages = 512;  // of a CPU's ring: some thousand events a drain
constexpr auto kDrain = std::chrono::milliseconds(10);
constexpr std::size_t kMostPieces =
    6'000'000;                              // of all CPUs: 300 MB; beyond, it is said when recording ended
constexpr std::size_t kMostTold = 100'000;  // of all processes
constexpr Nanoseconds kEdge = 20 * kMicrosecond;  // as noise-why's
constexpr std::int64_t kNoWatcher = -2;

/// Many CPUs have many events, each of which is a file.
void allow_files() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
  }
}

/// All CPUs' events while something else runs.
class Recording {
 public:
  Recording() : tracepoints_(noise_tracepoints()), cpus_(process_cpus()), histories_(cpus_.size()) {
    allow_files();
    for (const int cpu : cpus_) {
      rings_.push_back(open_ring(tracepoints_, cpu, CLOCK_MONOTONIC, refused_, kPages));
      followers_.push_back(std::make_unique<Attribution>(culprits_));
      followers_.back()->watcher(kNoWatcher);
      followers_.back()->restart();
    }
    for (const auto& ring : rings_) {
      ring->enable();
    }
    // only when all are recording  NOLINTNEXTLINE(cppcoreguidelines-prefer-member-initializer)
    start_ = now();
    drainer_ = std::thread([this] { drain_until_stopped(); });
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  Recording(Recording&&) = delete;
  Recording& operator=(Recording&&) = delete;
  ~Recording() { stop(); }

  [[nodiscard]] Json began() const {
    return {{"cpus", cpus_}, {"missing", tracepoints_.missing}, {"refused", refused_}, {"start", start_}};
  }

  /// What was taken from each of these processes.
  [[nodiscard]] Json told(const std::vector<std::int64_t>& processes) {
    stop();
    std::uint64_t lost = 0;
    for (const auto& follower : followers_) {
      lost += follower->lost();
      follower->tell_kernel_threads();
    }
    name_functions(culprits_);
    Json all = Json::array();
    for (const std::int64_t process : processes) {
      all.push_back(of_process(process, kMostTold / processes.size()));
    }
    Json culprits = Json::array();
    for (std::size_t number = 0; number < culprits_.size(); ++number) {
      culprits.push_back(to_json(culprits_.at(number)));
    }
    return {{"start", start_},
            {"end", full_at_.value_or(end_)},
            {"full", full_at_.has_value()},
            {"records", records_},
            {"lost_records", lost},
            {"culprits", std::move(culprits)},
            {"processes", std::move(all)}};
  }

 private:
  void stop() {
    if (drainer_.joinable()) {
      stopping_ = true;
      drainer_.join();
      end_ = now();
      for (const auto& ring : rings_) {
        ring->disable();
      }
      drain();
    }
  }

  void drain_until_stopped() {
    while (!stopping_) {
      std::this_thread::sleep_for(kDrain);
      drain();
    }
  }

  void drain() {
    std::size_t kept = 0;
    for (std::size_t place = 0; place < rings_.size(); ++place) {
      std::vector<Event> events;
      rings_[place]->drain([&](const PerfRecord& record) {
        if (auto event = tracepoints_.decoder.decode(record)) {
          events.push_back(std::move(*event));
        }
      });
      records_ += events.size();
      keep(events, histories_[place], *followers_[place]);
      kept += histories_[place].pieces.size();
    }
    if (kept > kMostPieces && !full_at_) {
      full_at_ = now();
    }
  }

  void keep(const std::vector<Event>& events, CpuHistory& history, Attribution& follower) {
    const std::vector<Piece> pieces = follower.follow(events);
    for (const Event& event : events) {
      if (event.thread > 0) {
        tasks_[event.thread] = event.pid;
      }
      if (event.kind == Event::Kind::kSwitch && !full_at_) {
        history.changes.push_back({event.at, event.pid, event.who.pid, event.runnable});
      }
    }
    if (!full_at_) {
      history.pieces.insert(history.pieces.end(), pieces.begin(), pieces.end());
    }
  }

  [[nodiscard]] Json of_process(std::int64_t process, std::size_t most) const {
    const auto task = tasks_.find(process);
    if (task == tasks_.end()) {
      return {{"process", process}, {"seen", false}, {"left_out", 0}, {"stolen", Json::array()}};
    }
    const std::vector<Piece> all = stolen_from(task->second, histories_, culprits_, kEdge);
    Json stolen = Json::array();
    const std::vector<Piece> told = longest_of(all, most);
    for (const Piece& piece : told) {
      stolen.push_back(Json::array({piece.at - start_, piece.length, piece.who}));
    }
    return {{"process", process},
            {"seen", true},
            {"left_out", all.size() - told.size()},
            {"stolen", std::move(stolen)}};
  }

  NoiseTracepoints tracepoints_;
  std::vector<int> cpus_;
  std::vector<CpuHistory> histories_;
  std::vector<std::string> refused_;
  std::vector<std::unique_ptr<EventRing>> rings_;
  Culprits culprits_;
  std::vector<std::unique_ptr<Attribution>> followers_;
  std::unordered_map<std::int64_t, std::int64_t>
      tasks_;  ///< as our PID namespace numbers them → as the first one does
  std::uint64_t records_ = 0;
  Nanoseconds start_ = 0;
  Nanoseconds end_ = 0;
  std::optional<Nanoseconds> full_at_;
  std::atomic<bool> stopping_ = false;
  std::thread drainer_;
};

/// The one recording that may run, and who may look at it.
struct Place {
  std::mutex lock;
  std::unique_ptr<Recording> recording;
};

Place& place() {
  static Place one;
  return one;
}

Json start(const Json& request) {
  refuse_unknown_fields(request, {"id", "op"});
  auto& [mutex, recording] = place();
  const std::lock_guard lock(mutex);
  if (recording != nullptr) {
    throw Error("bad-parameter", "a recording runs already: noise_stop ends it", "op");
  }
  try {
    recording = std::make_unique<Recording>();
  } catch (const Unavailable& refused) {
    throw Error("unavailable", refused.what());
  }
  return recording->began();
}

Json stop(const Json& request) {
  refuse_unknown_fields(request, {"id", "op", "processes"});
  const Json asked = request.value("processes", Json::array());
  if (!asked.is_array() ||
      !std::all_of(asked.begin(), asked.end(), [](const Json& one) { return one.is_integer(); })) {
    throw bad_parameter("processes", "processes is no list of identifiers");
  }
  auto& [mutex, recording] = place();
  const std::lock_guard lock(mutex);
  if (recording == nullptr) {
    throw Error("bad-parameter", "nothing is recorded: noise_start begins it", "op");
  }
  const std::unique_ptr<Recording> ended = std::move(recording);
  return ended->told(asked.get<std::vector<std::int64_t>>());
}

}  // namespace

std::map<std::string, Operation> recording_operations() {
  return {{"noise_start", {start, /*lengthy=*/true}}, {"noise_stop", {stop, /*lengthy=*/true}}};
}

}  // namespace wulf::node
