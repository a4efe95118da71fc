#include "node/noise/tracer.hpp"

#include <array>
#include <system_error>

#include "core/host/small_file.hpp"
#include "core/perf/tracefs.hpp"
#include "node/os/unavailable.hpp"

namespace wulf::node {
namespace {

constexpr const char* kRights =
    "; tracing the system needs root, or CAP_PERFMON with a tracefs that may be read: run wulf as root on "
    "this node";

/// A row each of what takes a CPU: tracepoints around it, and what names it.
const std::vector<Bracket>& brackets() {
  static const std::vector<Bracket> table{
      {"irq", "irq_handler_entry", "irq_handler_exit", Source::kInterrupt, "irq", Naming::kText, "name"},
      {"irq", "softirq_entry", "softirq_exit", Source::kSoftirq, "vec", Naming::kSymbol, "vec"},
      {"timer", "hrtimer_expire_entry", "hrtimer_expire_exit", Source::kTimer, "hrtimer", Naming::kFunction,
       "function"},
      {"timer", "timer_expire_entry", "timer_expire_exit", Source::kTimer, "timer", Naming::kFunction,
       "function"},
      {"workqueue", "workqueue_execute_start", "workqueue_execute_end", Source::kKernelThread, "work",
       Naming::kFunction, "function"},
      {"ipi", "ipi_entry", "ipi_exit", Source::kInterrupt, "", Naming::kFixed, "inter-processor"},
  };
  return table;
}

/// The processor's own vectors, of x86: local_timer, reschedule, call_function, …
std::vector<Bracket> vectors(const Tracefs& tracefs) {
  constexpr std::string_view kEntry = "_entry";
  const std::string system = "irq_vectors";
  std::vector<Bracket> found;
  for (const std::string& name : tracefs.list("events/" + system)) {
    if (name.ends_with(kEntry)) {
      const std::string vector = name.substr(0, name.size() - kEntry.size());
      found.push_back({system, name, vector + "_exit", Source::kInterrupt, "vector", Naming::kFixed, vector});
    }
  }
  return found;
}

std::optional<EventFormat> format_of(const Tracefs& tracefs, const std::string& system,
                                     const std::string& event) {
  const auto text = tracefs.read("events/" + system + "/" + event + "/format");
  return text ? parse_event_format(*text) : std::nullopt;
}

void add_bracket(const Tracefs& tracefs, const Bracket& bracket, NoiseTracepoints& tracepoints) {
  const auto enter = format_of(tracefs, bracket.system, bracket.enter);
  const auto leave = format_of(tracefs, bracket.system, bracket.leave);
  if (enter && leave && tracepoints.decoder.add_bracket(bracket, *enter, *leave)) {
    tracepoints.groups.push_back({bracket.enter, {leave->id, enter->id}});
  } else {
    tracepoints.missing.push_back(bracket.system + ":" + bracket.enter);
  }
}

Tracefs opened_tracefs() {
  try {
    return {};
  } catch (const std::system_error& refused) {
    throw Unavailable(refused.what() + std::string(kRights));
  }
}

}  // namespace

NoiseTracepoints noise_tracepoints() {
  const Tracefs tracefs = opened_tracefs();
  NoiseTracepoints tracepoints;
  const auto change = format_of(tracefs, "sched", "sched_switch");
  if (!change || !tracepoints.decoder.add_switch(*change)) {
    throw Unavailable(std::string("this kernel's tracepoint sched:sched_switch can't be read") + kRights);
  }
  tracepoints.groups.push_back({"sched_switch", {change->id}});
  for (const Bracket& bracket : brackets()) {
    add_bracket(tracefs, bracket, tracepoints);
  }
  for (const Bracket& bracket : vectors(tracefs)) {
    add_bracket(tracefs, bracket, tracepoints);
  }
  const auto nmi = format_of(tracefs, "nmi", "nmi_handler");
  if (nmi && tracepoints.decoder.add_nmi(*nmi)) {
    tracepoints.groups.push_back({"nmi_handler", {nmi->id}});
  } else {
    tracepoints.missing.emplace_back("nmi:nmi_handler");
  }
  return tracepoints;
}

std::unique_ptr<EventRing> open_ring(const NoiseTracepoints& tracepoints, int cpu, clockid_t clock,
                                     std::vector<std::string>& refused, std::size_t pages) {
  auto ring = std::make_unique<EventRing>(cpu, clock, pages);
  bool is_first = true;
  for (const TracepointGroup& group : tracepoints.groups) {
    try {
      for (const std::uint64_t event : group.numbers) {
        ring->add(event);
      }
    } catch (const std::system_error& error) {
      if (is_first) {
        throw Unavailable("the kernel does not let this process trace CPU " + std::to_string(cpu) + " (" +
                          error.what() + ", kernel.perf_event_paranoid " +
                          line_in("/proc/sys/kernel/perf_event_paranoid") + ")" + kRights);
      }
      refused.push_back(group.name);
    }
    is_first = false;
  }
  return ring;
}

}  // namespace wulf::node
