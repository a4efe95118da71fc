#include "node/memory/line_size.hpp"

#include "node/memory/caches.hpp"
#include "node/memory/chase.hpp"
#include "node/memory/pages.hpp"
#include "node/probe.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kBlock = 1024;
constexpr std::size_t kLongest = 256;  ///< the longest distance
constexpr std::size_t kBlockStep =
    256;  ///< between the places where blocks' first loads lie; no line is longer
constexpr std::size_t kUsualL1 = 32768;   ///< where the system does not say
constexpr std::size_t kBytesABlock = 21;  ///< of the first cache: three lines for one that it holds

/// So many blocks that their lines are far more than the first cache holds, and less than the second: from
/// there nothing brings a line's neighbours along, as from memory.
std::size_t blocks_for(int cpu) {
  const std::vector<Cache> caches = caches_of(cpu);
  return (caches.empty() ? kUsualL1 : caches.front().bytes) / kBytesABlock;
}

/// Blocks in random order; in each a load at one of its places, then one `distance` bytes after.
Samples time_pairs(const Pages& pages, std::size_t distance, double seconds) {
  Random random;
  std::vector<std::size_t> places;
  for (const std::size_t block : shuffled(pages.size() / kBlock, random)) {
    // blocks begin at different lines, or all would fall into a few sets of a cache
    const std::size_t start = (block * kBlock) + (block % 3 * kBlockStep);
    places.push_back(start);
    places.push_back(start + distance);
  }
  Chains chains = link_in_order(pages.data(), places, 1);
  return time_chase(chains, seconds);
}

/// The distance from which a second load misses as the first one did.
class LineSize final : public HostProbe {
 public:
  LineSize() : HostProbe("line-size", "memory", "bytes of a cache line, found by timing") {}

  [[nodiscard]] std::vector<Param> params() const override { return {}; }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"line", "B", "lower", "bytes that come together"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const Pages pages(blocks_for(params.at("cpu").get<int>()) * kBlock, "huge");
    const double seconds = params.at("seconds").get<double>() / 8;
    std::vector<PairTime> times;
    Json shown = Json::object();
    double spent = 0;
    for (std::size_t distance = sizeof(void*); distance <= kLongest; distance *= 2) {
      const Samples samples = time_pairs(pages, distance, seconds);
      times.push_back({distance, samples.least()});  // whatever disturbs makes it longer

      shown[std::to_string(distance)] = samples.least();
      spent += samples.spent();
    }
    const LineFound found = find_line(times);
    Json metric = no_value("B", found.reason);
    if (found.line > 0) {
      metric = {{"unit", "B"}, {"value", found.line}, {"n", times.size()}};
    }
    return {.metrics = {{"line", std::move(metric)}},
            .seconds = spent,
            .info = {{"pages", pages.info()},
                     {"reported", {{"unit", "B"}, {"value", line_bytes()}}},
                     {"distances", {{"unit", "s"}, {"value", std::move(shown)}}}}};
  }
};

const Registered<HostProbe> registered_line_size{std::make_unique<LineSize>()};

}  // namespace
}  // namespace wulf::node
