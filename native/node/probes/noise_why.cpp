#include <algorithm>
#include <cmath>
#include <ctime>
#include <mutex>
#include <utility>

#include "core/host/counters.hpp"
#include "node/noise/account.hpp"
#include "node/noise/symbols.hpp"
#include "node/noise/tracer.hpp"
#include "node/probe.hpp"
#include "node/time/ticks.hpp"
#include "node/time/timing.hpp"
#include "node/time/watch.hpp"

namespace wulf::node {
namespace {

constexpr clockid_t kEventClock = CLOCK_MONOTONIC_RAW;  // runs evenly, as the loop's counter does

Nanoseconds event_clock() {
  timespec time{};
  clock_gettime(kEventClock, &time);
  return (time.tv_sec * kSecond) + time.tv_nsec;
}

/// What the loop's counter and the events' clock show at one moment.
struct ClockPair {
  std::uint64_t ticks = 0;
  Nanoseconds time = 0;

  /// The closest of several looks.
  [[nodiscard]] static ClockPair read() {
    constexpr int kLooks = 9;
    ClockPair best;
    std::uint64_t least = std::numeric_limits<std::uint64_t>::max();
    for (int i = 0; i < kLooks; ++i) {
      const std::uint64_t before = ticks_now();
      const Nanoseconds time = event_clock();
      const std::uint64_t took = ticks_now() - before;
      if (took < least) {
        least = took;
        best = {before + (took / 2), time};
      }
    }
    return best;
  }

 private:
  [[nodiscard]] static std::uint64_t ticks_now() noexcept { return node::ticks(); }
};

/// The events' time of the counter's ticks, between two moments at which both were read.
class ClockMap {
 public:
  ClockMap(const ClockPair& first, const ClockPair& last)
      : first_(first),
        each_(static_cast<double>(last.time - first.time) /
              static_cast<double>(std::max<std::uint64_t>(last.ticks - first.ticks, 1))) {}

  [[nodiscard]] Nanoseconds length(std::uint64_t ticks) const {
    return std::llround(static_cast<double>(ticks) * each_);
  }
  [[nodiscard]] Nanoseconds at(std::uint64_t ticks) const {
    return ticks >= first_.ticks ? first_.time + length(ticks - first_.ticks)
                                 : first_.time - length(first_.ticks - ticks);
  }

 private:
  ClockPair first_;
  double each_;
};

/// What the loop lost in slices of one kind, traced or not.
struct Loss {
  double lost = 0;  ///< seconds beyond an ordinary step
  double seconds = 0;
  std::uint64_t detours = 0;
  double worst = 0;
  bool stopped_early = false;

  [[nodiscard]] double share() const { return seconds > 0 ? lost / seconds : 0; }
};

void add(Loss& loss, const Watch& seen, const ClockMap& clock) {
  std::uint64_t lost = 0;
  std::uint64_t longest = seen.longest;
  for (const Gap& gap : seen.gaps) {
    lost += gap.length - std::min(gap.length, seen.minimum);
    longest = std::max(longest, gap.length);
  }
  loss.lost += to_seconds(clock.length(lost));
  loss.seconds += to_seconds(clock.length(seen.elapsed));
  loss.detours += seen.gaps.size();
  loss.worst = std::max(loss.worst, to_seconds(clock.length(longest)));
  loss.stopped_early |= seen.gaps.size() == kMostGaps;
}

/// The tracepoints of the CPU that was measured last: closing them waits for the kernel, some 30 ms each,
/// unless they are open elsewhere, too.
class OpenRing {
 public:
  [[nodiscard]] static OpenRing& of(int cpu) {
    static OpenRing kept;
    if (!kept.ring_ || kept.ring_->cpu() != cpu) {
      kept.tracepoints_ = noise_tracepoints();
      kept.refused_.clear();
      kept.ring_ = open_ring(kept.tracepoints_, cpu, kEventClock, kept.refused_);
    }
    return kept;
  }

  void enable() { ring_->enable(); }

  /// What was recorded since.
  [[nodiscard]] std::vector<Event> disable() {
    ring_->disable();
    std::vector<Event> events;
    ring_->drain([&](const PerfRecord& record) {
      if (auto event = tracepoints_.decoder.decode(record)) {
        events.push_back(std::move(*event));
      }
    });
    return events;
  }

  [[nodiscard]] Json described() const {
    return {{"events", ring_->events()}, {"missing", tracepoints_.missing}, {"refused", refused_}};
  }

 private:
  NoiseTracepoints tracepoints_;
  std::vector<std::string> refused_;
  std::unique_ptr<EventRing> ring_;
};

/// Detours, each told by whom.
class NoiseWhy final : public HostProbe {
 public:
  NoiseWhy()
      : HostProbe("noise-why", "noise",
                  "what takes the CPU from a loop that watches the time, and who it is") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr double kLeast = 1e-6;  // as rtla's osnoise
    constexpr double kEdge = 2e-5;
    constexpr int kTold = 5;
    constexpr int kMostTold = 50;
    return {{"least", ParamType::kFloat, "s", kLeast, 1e-7, 1.0, "a detour is longer than this"},
            {"edge", ParamType::kFloat, "s", kEdge, 0.0, 1e-3,
             "so long may be what no event covers beside one and be called entering and leaving the kernel"},
            {"told", ParamType::kInt, "1", kTold, 0, kMostTold,
             "how many of the longest detours are told in full"}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    std::vector<Metric> all{
        {"lost", "1", "lower", "share of the time that detours took while they were traced"},
        {"untraced", "1", "lower", "the same without tracing, in slices between"},
        {"added", "1", "lower", "what tracing added to it"},
        {"worst", "s", "lower", "the longest time between two looks"},
        {"detours", "Hz", "lower", "how often"}};
    for (const auto& [source, help] : kClasses) {
      all.push_back({name_of(source), "1", "lower", help});
    }
    return all;
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    OpenRing& ring = OpenRing::of(params.at("cpu").get<int>());
    Measurement measured(params);
    const CounterTexts before = CounterTexts::read();
    measured.run(ring);
    const Json counted = before.delta(CounterTexts::read());
    return measured.outcome(ring.described(), counted, std::to_string(params.at("cpu").get<int>()));
  }

 private:
  static constexpr std::array<std::pair<Source, const char*>, kSources> kClasses{{
      {Source::kInterrupt, "share that interrupts' handlers took"},
      {Source::kSoftirq, "share that softirqs took"},
      {Source::kTimer, "share that functions took which timers called"},
      {Source::kNmi, "share that interrupts took which can't be masked"},
      {Source::kKernelThread, "share that kernel threads took"},
      {Source::kTask, "share that other programs took"},
      {Source::kIdle, "share in which nobody ran and the loop was not allowed to: a quota"},
      {Source::kEntry, "share of entering and leaving the kernel, choosing who runs, and tracing it"},
      {Source::kUnexplained, "share without any event: hypervisor, firmware, or what has no tracepoint"},
      {Source::kUnknown, "share of which records were lost"},
  }};

  /// One replicate: slices with and without tracing in turn.
  class Measurement {
   public:
    explicit Measurement(const Json& params)
        : seconds_(std::max(params.at("seconds").get<double>(), 1e-3)),
          least_(params.at("least").get<double>()),
          edge_(from_seconds(params.at("edge").get<double>())),
          account_(params.at("told").get<std::size_t>()),
          attribution_(culprits_),
          start_(event_clock()) {}

    void run(OpenRing& ring) {
      constexpr double kSlice = 0.05;
      const TickRate rate;
      minimum_ = least_step();
      // with, without, without, with: a drift over the replicate weighs on both alike
      const int rounds = std::max(1, static_cast<int>(std::lround(seconds_ / (4 * kSlice))));
      const double tick = rate.seconds_each();
      const auto span = static_cast<std::uint64_t>(seconds_ / (4 * rounds) / tick);
      limit_ = std::max(minimum_, static_cast<std::uint64_t>(least_ / tick));
      for (int slice = 0; slice < 4 * rounds; ++slice) {
        if (slice % 4 == 0 || slice % 4 == 3) {
          traced(ring, span);
        } else {
          untraced(span);
        }
      }
      attribution_.tell_kernel_threads();
      name_functions(culprits_);
    }

    [[nodiscard]] Outcome outcome(Json tracing, const Json& counted, const std::string& cpu) const {
      Json metrics{{"lost", share(with_.share(), with_.detours)},
                   {"untraced", share(without_.share(), without_.detours)},
                   {"added", {{"unit", "1"}, {"value", with_.share() - without_.share()}}},
                   {"worst", {{"unit", "s"}, {"value", with_.worst}}},
                   {"detours",
                    {{"unit", "Hz"},
                     {"value", static_cast<double>(with_.detours) / std::max(with_.seconds, 1e-9)},
                     {"n", with_.detours}}}};
      const auto sums = account_.by_source(culprits_);
      for (const auto& [source, help] : kClasses) {
        const Nanoseconds sum = sums.at(static_cast<std::size_t>(source));
        metrics[name_of(source)] = {{"unit", "1"},
                                    {"value", to_seconds(sum) / std::max(with_.seconds, 1e-9)}};
      }
      tracing["records"] = records_;
      tracing["lost_records"] = attribution_.lost();
      return {.metrics = std::move(metrics),
              .seconds = with_.seconds + without_.seconds,
              .info = {{"least", least_},
                       {"traced_seconds", with_.seconds},
                       {"untraced_seconds", without_.seconds},
                       {"step", to_seconds(step_)},
                       {"stopped_early", with_.stopped_early || without_.stopped_early},
                       {"steal", stolen(counted, cpu)},
                       {"tracing", std::move(tracing)},
                       {"culprits", account_.table(culprits_)},
                       {"longest", account_.worst(culprits_, start_)}}};
    }

   private:
    [[nodiscard]] static Json share(double value, std::uint64_t count) {
      return {{"unit", "1"}, {"value", value}, {"n", count}};
    }

    /// Seconds that the hypervisor took by its own word, in steps of a tick.
    [[nodiscard]] static Json stolen(const Json& counted, const std::string& cpu) {
      const Json times = counted.value("cpu", Json::object()).value(cpu, Json::object());
      return {{"unit", "s"}, {"value", times.value("steal", 0.0)}};
    }

    void untraced(std::uint64_t span) {
      const ClockPair first = ClockPair::read();
      const Watch seen = watch(span, minimum_, limit_);
      add(without_, seen, ClockMap(first, ClockPair::read()));
    }

    void traced(OpenRing& ring, std::uint64_t span) {
      ring.enable();
      const ClockPair first = ClockPair::read();
      const Watch seen = watch(span, minimum_, limit_);
      const ClockMap clock(first, ClockPair::read());
      const std::vector<Event> events = ring.disable();
      records_ += events.size();
      add(with_, seen, clock);
      step_ = clock.length(minimum_);
      attribution_.restart();
      const std::vector<Piece> pieces = attribution_.follow(events);
      for (const Gap& gap : seen.gaps) {
        const Absence absence{.at = clock.at(seen.start + gap.at), .length = clock.length(gap.length)};
        account_.add(absence, split(absence, pieces, edge_));
      }
    }

    double seconds_;
    double least_;
    Nanoseconds edge_;
    std::uint64_t minimum_ = 1;
    std::uint64_t limit_ = 1;
    Nanoseconds step_ = 0;
    std::uint64_t records_ = 0;
    Loss with_;
    Loss without_;
    Culprits culprits_;
    NoiseAccount account_;
    Attribution attribution_;
    Nanoseconds start_;
  };
};

const Registered<HostProbe> registered_noise_why{std::make_unique<NoiseWhy>()};

}  // namespace
}  // namespace wulf::node
