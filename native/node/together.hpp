#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/json.hpp"
#include "core/params.hpp"

namespace wulf::node {

/// The CPUs that this process may use, also when the calling thread is bound to one of them.
[[nodiscard]] std::vector<int> process_cpus();

/// The parameter `threads`: 1 = on params["cpu"], 0 = one on each CPU of the process.
[[nodiscard]] Param threads_param();

/// The CPUs that resolved `params` ask for. Throws bad-parameter for more threads than CPUs.
[[nodiscard]] std::vector<int> chosen_cpus(const Json& params);

/// What one thread did.
struct Share {
  int cpu = 0;
  std::uint64_t operations = 0;
  double seconds = 0;
};

/// `work(count)` does `count` operations; a thread bound to each of `cpus` warms up with it, then all begin
/// at the same moment and repeat it for `seconds`. Throws Error "limit" where the system gives no thread, and
/// what binding throws.
[[nodiscard]] std::vector<Share> run_together(const std::vector<int>& cpus,
                                              const std::function<void(std::uint64_t)>& work, double seconds);

/// The sum of the threads' rates as a metric, each operation counting `per_operation`: {"unit", "value", "n",
/// "min" and "max" of a thread's}.
[[nodiscard]] Json rate_together(const std::vector<Share>& shares, const std::string& unit,
                                 double per_operation);

}  // namespace wulf::node
