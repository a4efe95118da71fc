#include "core/kernels/sha1.hpp"

#include "node/memory/pages.hpp"
#include "node/probe.hpp"
#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

/// Integer work with next to no parallelism in it: rotations, additions and logic that wait for each other.
class Sha1 final : public HostProbe {
 public:
  Sha1() : HostProbe("sha1", "cpu", "SHA-1 of an array, in portable code") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr std::int64_t kMost = std::int64_t{1} << 40U;
    return {{"bytes", ParamType::kInt, "B", 32768, 1, kMost, "size of the array"}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"throughput", "B/s", "higher", "bytes digested"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto bytes = params.at("bytes").get<std::size_t>();
    const Pages pages(bytes, "default");
    const auto data = pages.as<const std::byte>();
    const auto digest = [&](std::uint64_t count) {
      for (std::uint64_t i = 0; i < count; ++i) {
        Sha1Digest result = sha1(data);
        keep(result[0]);
      }
    };
    const Samples samples = time_batches(digest, params.at("seconds").get<double>());
    return {.metrics = {{"throughput", samples.rate("B/s", static_cast<double>(bytes))}},
            .seconds = samples.spent(),
            .info = {{"implementation", "portable"}, {"pages", pages.info()}}};
  }
};

const Registered<HostProbe> registered_sha1{std::make_unique<Sha1>()};

}  // namespace
}  // namespace wulf::node
