#include "node/memory/chase.hpp"

#include "core/json/error.hpp"
#include "node/memory/pages.hpp"
#include "node/memory/working_set.hpp"
#include "node/probe.hpp"

namespace wulf::node {
namespace {

constexpr std::int64_t kMostStride = 1LL << 30U;

Chains link(const WorkingSet& set, std::size_t line, const Json& params, Random& random) {
  const auto stride = params.at("stride").get<std::size_t>();
  const auto chains = params.at("chains").get<std::size_t>();
  if (stride == 0) {
    return link_random(set.as<std::byte>(), line, chains, random);
  }
  if (stride < sizeof(void*) || stride % sizeof(void*) != 0 || stride > set.size()) {
    throw bad_parameter("stride", "stride is " + std::to_string(stride) + " B, but must be a multiple of " +
                                      std::to_string(sizeof(void*)) + " B within the " +
                                      std::to_string(set.size()) + " B of memory, or 0");
  }
  if (chains != 1) {
    throw bad_parameter("chains", "an ascending stride is one chain: chains is " + std::to_string(chains));
  }
  return link_ascending(set.as<std::byte>(), stride);
}

/// Loads that wait for one another (lmbench's lat_mem_rd, multichase), or several such chains at once: how
/// many misses a core has in flight.
class Chase final : public HostProbe {
 public:
  Chase() : HostProbe("chase", "memory", "latency of loads that each need the last one's value") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr std::int64_t kMostBytes = 1LL << 38U;  // 2³² lines, which is as many as are numbered
    return {{"bytes", ParamType::kInt, "B", 1 << 25U, 64, kMostBytes, "working set"},
            pages_param(),
            {"stride", ParamType::kInt, "B", 0, 0, kMostStride,
             "0 = every line in random order; else ascending in such steps, as lmbench"},
            {"chains", ParamType::kInt, "1", 1, 1, kMostChains, "independent chains at the same time"}};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "a load; of several chains: time by all their loads"}};
  }

  [[nodiscard]] bool shares_set(const Json& /*params*/) const override { return true; }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const WorkingSet set(params.at("bytes").get<std::size_t>(), params.at("pages").get<std::string>(),
                         Contents::kAny, helpers_of(params.at("cpu").get<int>()));
    const std::size_t line = line_bytes();
    Random random;
    const Nanoseconds start = now();
    Chains chains = link(set, line, params, random);
    const double setup = to_seconds(now() - start);
    const bool ascending = params.at("stride") != 0;
    const Samples samples =
        time_chase(chains, params.at("seconds").get<double>(), ascending ? kWarmAscending : kWarm);
    return {.metrics = {{"latency", samples.metric()}},
            .seconds = samples.spent(),
            .info = {{"pages", set.info()},
                     {"order", ascending ? "ascending" : "random, every line once"},
                     {"line", {{"unit", "B"}, {"value", line}}},
                     {"places", chains.places},
                     {"setup", {{"unit", "s"}, {"value", setup}}}}};
  }
};

const Registered<HostProbe> registered_chase{std::make_unique<Chase>()};

}  // namespace
}  // namespace wulf::node
