#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <optional>

#include "core/host/counters.hpp"
#include "core/host/schedstat.hpp"
#include "node/probe.hpp"
#include "node/time/noise.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

/// What the kernel says of the calling thread at one time.
struct Account {
  std::optional<ScheduleStat> schedule;
  long involuntary = 0;  ///< times that it was made to give up the CPU
  Nanoseconds ran = 0;
  Nanoseconds at = 0;
};

Account account() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  timespec ran{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ran);
  // A union in the C library's header alone.  NOLINTNEXTLINE(cppcoreguidelines-pro-type-union-access)
  const long involuntary = used.ru_nivcsw;
  return {own_schedstat(), involuntary, (ran.tv_sec * kSecond) + ran.tv_nsec, now()};
}

void keep_busy(double seconds) noexcept {
  const Nanoseconds end = now() + from_seconds(seconds);
  while (now() < end) {
  }
}

Json waiting(const Account& before, const Account& after) {
  constexpr double kNano = 1e-9;
  if (!before.schedule || !after.schedule) {
    return no_value("s", std::string(kOwnSchedstat) + " cannot be read: a kernel without CONFIG_SCHED_INFO?");
  }
  return {{"unit", "s"},
          {"value", static_cast<double>(after.schedule->waited - before.schedule->waited) * kNano},
          {"turns", after.schedule->turns - before.schedule->turns}};
}

/// Why a file of counters says nothing; null where it was read.
Json missing(const Json& counters, const std::string& path) {
  const Json files = counters.value("missing", Json::array());
  return std::find(files.begin(), files.end(), path) == files.end() ? Json(nullptr)
                                                                    : Json(path + " cannot be read");
}

/// What a CPU got of each kind of interrupt: {"LOC:Local timer interrupts": 5, …}.
Json counts_on(const Json& delta, const char* key, const std::string& cpu) {
  const Json reason = missing(delta, std::string("/proc/") + key);
  if (!reason.is_null()) {
    return no_value("1", reason.get<std::string>());
  }
  Json counts = Json::object();
  const Json kinds = delta.value(key, Json::object());
  for (const auto& [kind, of_cpu] : kinds.members()) {
    if (of_cpu.contains(cpu)) {
      counts[kind] = of_cpu.at(cpu);
    }
  }
  return {{"unit", "1"}, {"value", std::move(counts)}};
}

/// Seconds that a CPU spent on interrupts, or that its hypervisor took. In steps of a tick, mostly 10 ms.
Json ticks_on(const Json& delta, const std::string& cpu) {
  const Json reason = missing(delta, "/proc/stat");
  if (!reason.is_null()) {
    return no_value("s", reason.get<std::string>());
  }
  const Json times = delta.value("cpu", Json::object()).value(cpu, Json::object());
  Json shown = Json::object();
  for (const char* kind : {"steal", "irq", "softirq"}) {
    shown[kind] = times.value(kind, 0.0);
  }
  return {{"unit", "s"}, {"value", std::move(shown)}};
}

/// The kernel's own account of what it took from a busy thread.
class KernelNoise final : public HostProbe {
 public:
  KernelNoise()
      : HostProbe("kernel-noise", "noise", "how long a busy thread did not run, as the kernel counts") {}

  [[nodiscard]] std::vector<Param> params() const override { return {}; }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"lost", "1", "lower",
             "share of the time that was not charged to the thread: waiting for the CPU, and interrupts and "
             "stolen time where the kernel keeps them apart"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const CounterTexts first = CounterTexts::read();
    const Account before = account();
    keep_busy(params.at("seconds").get<double>());
    const Account after = account();
    const Json delta = first.delta(CounterTexts::read());
    const int number = params.at("cpu").get<int>();
    const std::string cpu = std::to_string(number);
    const double seconds = to_seconds(std::max<Nanoseconds>(after.at - before.at, 1));
    const double lost = 1 - (to_seconds(after.ran - before.ran) / seconds);
    return {.metrics = {{"lost", {{"unit", "1"}, {"value", std::max(lost, 0.0)}}}},
            .seconds = seconds,
            .info = {{"waiting", waiting(before, after)},
                     {"involuntary_switches", after.involuntary - before.involuntary},
                     {"ticks", ticks_on(delta, cpu)},
                     {"interrupts", counts_on(delta, "interrupts", cpu)},
                     {"softirqs", counts_on(delta, "softirqs", cpu)},
                     {"osnoise", osnoise("", number)}}};
  }
};

const Registered<HostProbe> registered_kernel_noise{std::make_unique<KernelNoise>()};

}  // namespace
}  // namespace wulf::node
