#include <atomic>
#include <future>

#include "core/host/affinity.hpp"
#include "core/host/threads.hpp"
#include "core/json/error.hpp"
#include "node/memory/pages.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kApart = 256;     ///< no line, and no pair of lines that come together, is shared
constexpr std::uint64_t kRounds = 250;  ///< round trips at least: hand-over at a batch's begin is one more
constexpr std::size_t kRegion = std::size_t{1} << 20U;

using Flag = std::atomic<std::uint64_t>;

/// Two threads and two flags, each written by one thread alone and awaited by the other. Every batch takes
/// two lines that were not used before, until the memory is used up: where a line's home is differs by line.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): it keeps what threads share apart
class PingPong {
 public:
  PingPong() : pages_(kRegion, "small") {
    for (std::size_t i = 0; i < kFlags; ++i) {
      new (pages_.data() + (i * kApart)) Flag(0);
    }
  }

  /// `count` round trips, from the asking side.
  void ask(std::uint64_t count) noexcept {
    ++batch_;
    const std::uint64_t first = rounds_ + 1;
    rounds_ += count;
    const auto [ping, pong] = flags(batch_);
    last_.store(rounds_, std::memory_order_relaxed);
    started_.store(batch_, std::memory_order_release);
    for (std::uint64_t round = first; round <= rounds_; ++round) {
      ping->store(round, std::memory_order_release);
      while (pong->load(std::memory_order_acquire) != round) {
      }
    }
  }

  /// The other side, until stop().
  void answer() noexcept {
    std::uint64_t round = 0;
    for (std::uint64_t batch = 1;; ++batch) {
      while (started_.load(std::memory_order_acquire) < batch) {
        if (stopped_.load(std::memory_order_relaxed)) {
          return;
        }
      }
      const auto [ping, pong] = flags(batch);
      const std::uint64_t last = last_.load(std::memory_order_relaxed);
      while (round < last) {
        ++round;
        while (ping->load(std::memory_order_acquire) != round) {
        }
        pong->store(round, std::memory_order_release);
      }
    }
  }

  void stop() noexcept { stopped_.store(true); }
  [[nodiscard]] std::uint64_t batches() const { return batch_; }

 private:
  static constexpr std::size_t kFlags = kRegion / kApart;

  [[nodiscard]] std::pair<Flag*, Flag*> flags(std::uint64_t batch) const noexcept {
    std::byte* first = pages_.data() + ((2 * batch) % kFlags * kApart);
    return {std::launder(reinterpret_cast<Flag*>(first)),
            std::launder(reinterpret_cast<Flag*>(first + kApart))};
  }

  Pages pages_;
  std::uint64_t batch_ = 0;
  std::uint64_t rounds_ = 0;
  alignas(kApart) Flag started_{0};  ///< the batch that has begun, and its last round
  Flag last_{0};
  alignas(kApart) std::atomic<bool> stopped_{false};
};

int other_of(const Json& params, const std::vector<int>& cpus) {
  const int cpu = params.at("cpu").get<int>();
  const auto asked = optional_value<int>(params, "other");
  const int other = asked.value_or(cpus.front() == cpu ? cpus.back() : cpus.front());
  if (other == cpu) {
    throw bad_parameter("other",
                        "other is " + std::to_string(other) + ", the CPU that measures: name another");
  }
  check_cpu(other, "other");
  return other;
}

/// Half a round trip of a flag between two CPUs: how long a line takes from one's cache to the other's.
class CoreToCore final : public HostProbe {
 public:
  CoreToCore() : HostProbe("core-to-core", "memory", "latency of a flag from one CPU to another") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return {{"other", ParamType::kInt, "", nullptr, 0, 8191, "the other CPU (default: another one allowed)"}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "half a round trip"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const std::vector<int> cpus = process_cpus();
    if (cpus.size() < 2) {
      return {.metrics = {{"latency", no_value("s", "this process may run on one CPU only")}}};
    }
    const int other = other_of(params, cpus);
    PingPong flags;
    Threads threads;
    std::promise<void> bound;
    threads.start([&flags, &bound, other] {
      try {
        pin_to_cpu(other, "other");
      } catch (...) {
        bound.set_exception(std::current_exception());
        return;
      }
      bound.set_value();
      flags.answer();
    });
    bound.get_future().get();
    const Samples samples = time_batches([&flags](std::uint64_t count) { flags.ask(count * kRounds); },
                                         params.at("seconds").get<double>());
    flags.stop();
    threads.join();
    return {.metrics = {{"latency", samples.split(2 * kRounds).metric()}},
            .seconds = samples.spent(),
            .info = {{"other", other},
                     {"pause", "none: both spin with plain loads"},
                     {"lines", "two a batch, fresh, 256 B apart, each written by one side alone"},
                     {"batches", flags.batches()}}};
  }
};

const Registered<HostProbe> registered_core_to_core{std::make_unique<CoreToCore>()};

}  // namespace
}  // namespace wulf::node
