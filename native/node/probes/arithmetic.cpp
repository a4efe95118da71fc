#include <algorithm>

#include "core/json/error.hpp"
#include "node/cpu/arithmetic_kernels.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

const ArithmeticKernel& find_kernel(const std::string& type, const std::string& op) {
  const auto kernels = arithmetic_kernels();
  const auto found = std::find_if(kernels.begin(), kernels.end(), [&](const ArithmeticKernel& each) {
    return each.type == type && each.op == op;
  });
  if (found == kernels.end()) {
    throw bad_parameter("op", "there is no '" + op + "' of " + type +
                                  ": bit and mod are of integers alone, bogo of float and double alone");
  }
  return *found;
}

/// Seconds an operation, by `rounds` of `steps` operations each.
Samples time_rounds(double (*body)(std::uint64_t) noexcept, std::size_t steps, double seconds) {
  const auto run = [body](std::uint64_t rounds) {
    double end = body(rounds);
    keep(end);
  };
  return time_batches(run, seconds).split(steps);
}

/// lmbench's arithmetic: a chain in which each operation waits for the last, and chains side by side.
class Arithmetic final : public HostProbe {
 public:
  Arithmetic()
      : HostProbe("arithmetic", "cpu", "one arithmetic operation: how long it takes, how many a second") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return {
        {"type",
         ParamType::kStr,
         "",
         "int",
         nullptr,
         nullptr,
         "of 32 bits (int, float) or 64 (int64, double)",
         {"int", "int64", "float", "double"}},
        {"op",
         ParamType::kStr,
         "",
         "add",
         nullptr,
         nullptr,
         "bit (exclusive or) and mod: integers alone; bogo, (1 + x) * (1.5 - x) / x: float and double alone",
         {"bit", "add", "mul", "div", "mod", "bogo"}}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "one operation whose operand is the last one's result"},
            {"throughput", "Hz", "higher", "operations that don't wait for each other"},
            {"interval", "s", "lower", "from one such operation to the next"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const ArithmeticKernel& kernel =
        find_kernel(params.at("type").get<std::string>(), params.at("op").get<std::string>());
    const double half = params.at("seconds").get<double>() / 2;
    const Samples chain = time_rounds(kernel.dependent, kernel.dependent_steps, half);
    const Samples chains = time_rounds(kernel.independent, kIndependentSteps, half);
    return {.metrics = {{"latency", chain.metric()},
                        {"throughput", chains.rate("Hz")},
                        {"interval", chains.metric()}},
            .seconds = chain.spent() + chains.spent(),
            .info = {{"operands", kernel.policy},
                     {"unrolled", {{"latency", kernel.dependent_steps}, {"throughput", kIndependentSteps}}},
                     {"chains", kernel.independent_chains}}};
  }
};

const Registered<HostProbe> registered_arithmetic{std::make_unique<Arithmetic>()};

}  // namespace
}  // namespace wulf::node
