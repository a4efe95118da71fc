#pragma once

#include <string>
#include <vector>

namespace wulf {

/// The CPUs on which that thread (0: the calling one) may run, in ascending order.
[[nodiscard]] std::vector<int> allowed_cpus(int thread = 0);

/// "0-3,8" for {0, 1, 2, 3, 8}: the kernel's notation.
[[nodiscard]] std::string cpu_list(const std::vector<int>& cpus);

/// Throws bad-parameter, with `field`, unless the calling thread may run on `cpu`.
void check_cpu(int cpu, const std::string& field);

/// Binds the calling thread to `cpu`; errors as check_cpu.
void pin_to_cpu(int cpu, const std::string& field);

}  // namespace wulf
