#pragma once

#include <string>
#include <vector>

namespace wulf {

/// The CPUs on which a thread (0 = the calling one) may run, in ascending order.
[[nodiscard]] std::vector<int> allowed_cpus(int thread = 0);

/// The CPUs on which this process may run: those of its first thread, which nobody binds to one.
[[nodiscard]] std::vector<int> process_cpus();

/// "0-3,8" for {0, 1, 2, 3, 8}: the kernel's notation.
[[nodiscard]] std::string cpu_list(const std::vector<int>& cpus);

/// Throws bad-parameter, with `field`, unless this process may run on `cpu`.
void check_cpu(int cpu, const std::string& field);

/// Binds the calling thread to `cpu`; errors as check_cpu.
void pin_to_cpu(int cpu, const std::string& field);

}  // namespace wulf
