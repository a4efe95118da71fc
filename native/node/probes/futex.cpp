#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <thread>

#include "node/cpu/placement.hpp"
#include "node/os/unavailable.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

/// Whose turn it is, of two threads that sleep while it is the other's.
class Turn {
 public:
  static constexpr std::uint32_t kOurs = 0;
  static constexpr std::uint32_t kTheirs = 1;
  static constexpr std::uint32_t kOver = 2;

  /// Sets it, and wakes the other.
  void give(std::uint32_t whose) noexcept {
    turn_.store(whose, std::memory_order_release);
    syscall(SYS_futex, &turn_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }

  /// Sleeps as long as it is `whose`; returns what it is then.
  std::uint32_t wait_while(std::uint32_t whose) noexcept {
    std::uint32_t now = 0;
    while ((now = turn_.load(std::memory_order_acquire)) == whose) {
      syscall(SYS_futex, &turn_, FUTEX_WAIT_PRIVATE, whose, nullptr, nullptr, 0);
    }
    return now;
  }

 private:
  std::atomic<std::uint32_t> turn_{kOurs};
  static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));
};

/// The other thread, which hands every turn back.
class Partner {
 public:
  explicit Partner(int cpu) : thread_([this, cpu] { answer(cpu); }) {}
  Partner(const Partner&) = delete;
  Partner& operator=(const Partner&) = delete;
  Partner(Partner&&) = delete;
  Partner& operator=(Partner&&) = delete;
  ~Partner() {
    turn_.give(Turn::kOver);
    thread_.join();
  }

  void round_trip() noexcept {
    turn_.give(Turn::kTheirs);
    (void)turn_.wait_while(Turn::kTheirs);
  }

  [[nodiscard]] bool bound() const { return bound_.load(); }

 private:
  void answer(int cpu) {
    bound_.store(bind_to(cpu));
    while (turn_.wait_while(Turn::kOurs) == Turn::kTheirs) {
      turn_.give(Turn::kOurs);
    }
  }

  Turn turn_;
  std::atomic<bool> bound_{false};
  std::thread thread_;  // last: it uses the others
};

/// Two threads that wake each other in turn; neither ever spins.
class Futex final : public HostProbe {
 public:
  Futex() : HostProbe("futex", "os", "one thread wakes another, which slept on a futex(2)") {}

  [[nodiscard]] std::vector<Param> params() const override { return {placement_param()}; }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "half of a round trip: one wake-up, one going to sleep"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const std::vector<int> cpus =
        place(params.at("placement").get<std::string>(), params.at("cpu").get<int>(), 2);
    Partner partner(cpus.at(1));
    partner.round_trip();
    if (!partner.bound()) {
      throw Unavailable("a thread cannot be bound to CPU " + std::to_string(cpus.at(1)));
    }
    const Samples samples = time_batches(
                                [&](std::uint64_t count) {
                                  for (std::uint64_t i = 0; i < count; ++i) {
                                    partner.round_trip();
                                  }
                                },
                                params.at("seconds").get<double>())
                                .split(2);
    return {.metrics = {{"latency", samples.metric()}}, .seconds = samples.spent(), .info = {{"cpus", cpus}}};
  }
};

const Registered<HostProbe> registered_futex{std::make_unique<Futex>()};

}  // namespace
}  // namespace wulf::node
