#include <sys/syscall.h>
#include <unistd.h>

#include "node/probe.hpp"
#include "node/timing.hpp"

namespace wulf::node {
namespace {

/// lmbench's null call: into the kernel and back, with next to nothing done there. getppid, since the C
/// library remembers what getpid says.
class Syscall final : public Probe {
 public:
  Syscall() : Probe("syscall", "os", "the cheapest system call: getppid(2)") {}

  [[nodiscard]] std::vector<Param> params() const override { return {}; }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "one call"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const Samples samples = time_batches(
        [](std::uint64_t count) {
          for (std::uint64_t i = 0; i < count; ++i) {
            syscall(SYS_getppid);
          }
        },
        params.at("seconds").get<double>());
    return {.metrics = {{"latency", samples.metric()}}, .seconds = samples.spent(), .info = Json::object()};
  }
};

const Registered<Probe> registered{std::make_unique<Syscall>()};

}  // namespace
}  // namespace wulf::node
