#include "node/cpu/placement.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>

#include "core/host/affinity.hpp"
#include "node/os/unavailable.hpp"

namespace wulf::node {

Param placement_param() {
  return {"placement",
          ParamType::kStr,
          "",
          "same",
          nullptr,
          nullptr,
          "all on one CPU, or each on the next one that is allowed",
          {"same", "spread"}};
}

std::vector<int> place(const std::string& placement, const std::vector<int>& allowed, int cpu,
                       std::size_t count) {
  if (placement == "same") {
    return std::vector<int>(count, cpu);
  }
  if (allowed.size() < 2) {
    throw Unavailable("placement 'spread' needs two CPUs, but this program may use CPU " + cpu_list(allowed) +
                      " alone: widen its affinity or cpuset");
  }
  const auto own = std::find(allowed.begin(), allowed.end(), cpu) - allowed.begin();
  std::vector<int> cpus(count);
  for (std::size_t i = 0; i < count; ++i) {
    cpus[i] = allowed[(static_cast<std::size_t>(own) + i) % allowed.size()];
  }
  return cpus;
}

std::vector<int> place(const std::string& placement, int cpu, std::size_t count) {
  // requests are bound, each in its own thread; the first thread is not
  return place(placement, process_cpus(), cpu, count);
}

bool bind_to(int cpu) noexcept {
  constexpr std::size_t kMostCpus = 8192;  // the kernel's CONFIG_NR_CPUS limit on x86-64
  constexpr std::size_t kBits = CHAR_BIT * sizeof(unsigned long);
  std::array<unsigned long, kMostCpus / kBits> set{};
  const auto bit = static_cast<std::size_t>(cpu);
  set.at(bit / kBits) = 1UL << (bit % kBits);
  return syscall(SYS_sched_setaffinity, 0, sizeof set, set.data()) == 0;
}

}  // namespace wulf::node
