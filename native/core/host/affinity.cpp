#include "core/host/affinity.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "core/json/error.hpp"

namespace wulf {
namespace {

/// A CPU set of any size: the fixed cpu_set_t ends at 1024 CPUs.
class CpuSet {
 public:
  explicit CpuSet(int cpus)
      : size_(CPU_ALLOC_SIZE(static_cast<std::size_t>(cpus))),
        set_(CPU_ALLOC(static_cast<std::size_t>(cpus))) {
    CPU_ZERO_S(size_, set_.get());
  }
  [[nodiscard]] cpu_set_t* get() const { return set_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool has(std::size_t cpu) const { return CPU_ISSET_S(cpu, size_, set_.get()); }
  void add(std::size_t cpu) { CPU_SET_S(cpu, size_, set_.get()); }

 private:
  struct Free {
    void operator()(cpu_set_t* set) const { CPU_FREE(set); }
  };
  std::size_t size_;
  std::unique_ptr<cpu_set_t, Free> set_;
};

constexpr int kMaxCpus = 8192;  // the kernel's CONFIG_NR_CPUS limit on x86-64

}  // namespace

std::vector<int> allowed_cpus(int thread) {
  const CpuSet set(kMaxCpus);
  std::vector<int> cpus;
  if (sched_getaffinity(thread, set.size(), set.get()) != 0) {
    throw system_error("internal", "sched_getaffinity", errno);
  }
  for (int cpu = 0; cpu < kMaxCpus; ++cpu) {
    if (set.has(static_cast<std::size_t>(cpu))) {
      cpus.push_back(cpu);
    }
  }
  return cpus;
}

std::vector<int> process_cpus() { return allowed_cpus(getpid()); }

std::string cpu_list(const std::vector<int>& cpus) {
  std::string text;
  for (std::size_t i = 0; i < cpus.size();) {
    std::size_t last = i;
    while (last + 1 < cpus.size() && cpus[last + 1] == cpus[last] + 1) {
      ++last;
    }
    text += (text.empty() ? "" : ",") + std::to_string(cpus[i]);
    if (last > i) {
      text += "-" + std::to_string(cpus[last]);
    }
    i = last + 1;
  }
  return text;
}

void check_cpu(int cpu, const std::string& field) {
  // the process's, since a thread inherits the one CPU to which the thread that started it was bound
  const std::vector<int> allowed = process_cpus();
  if (!std::binary_search(allowed.begin(), allowed.end(), cpu)) {
    throw bad_parameter(field, field + " is " + std::to_string(cpu) + ", but this process may run on CPUs " +
                                   cpu_list(allowed) +
                                   " only: choose one of them, or widen its affinity or cpuset");
  }
}

void pin_to_cpu(int cpu, const std::string& field) {
  check_cpu(cpu, field);
  CpuSet set(kMaxCpus);
  set.add(static_cast<std::size_t>(cpu));
  if (sched_setaffinity(0, set.size(), set.get()) != 0) {
    throw system_error("internal", "sched_setaffinity to CPU " + std::to_string(cpu), errno);
  }
}

}  // namespace wulf
