#include "node/line_size.hpp"

#include "node/caches.hpp"
#include "node/chase.hpp"
#include "node/pages.hpp"
#include "node/probe.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kLeastBytes = std::size_t{16} << 20U;
constexpr std::size_t kBlock = 2048;
constexpr std::size_t kLongest = 1024;  ///< the longest distance; a block is twice as long

/// Far more than the caches of one CPU alone, which are all but the last one where there are three.
std::size_t bytes_for(int cpu) {
  std::size_t own = 0;
  for (const Cache& cache : caches_of(cpu)) {
    own = cache.level <= 2 ? std::max(own, cache.bytes) : own;
  }
  return std::max(kLeastBytes, 4 * own);
}

/// Blocks in random order; in each a load from its begin, then one `distance` bytes after.
Samples time_pairs(const Pages& pages, std::size_t distance, double seconds) {
  Random random;
  std::vector<std::size_t> places;
  for (const std::size_t block : shuffled(pages.size() / kBlock, random)) {
    // blocks begin at different lines, or all would fall into a few sets of a cache
    const std::size_t start = (block * kBlock) + ((block % 2) * kLongest / 2);
    places.push_back(start);
    places.push_back(start + distance);
  }
  Chains chains = link_in_order(pages.data(), places, 1);
  return time_chase(chains, seconds);
}

/// The distance from which a second load misses as the first one did.
class LineSize final : public Probe {
 public:
  LineSize() : Probe("line-size", "memory", "bytes of a cache line, found by timing") {}

  [[nodiscard]] std::vector<Param> params() const override { return {}; }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"line", "B", "lower", "bytes that come together"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const Pages pages(bytes_for(params.at("cpu").get<int>()), "huge");
    const double seconds = params.at("seconds").get<double>() / 8;
    std::vector<PairTime> times;
    Json shown = Json::object();
    double spent = 0;
    for (std::size_t distance = sizeof(void*); distance <= kLongest; distance *= 2) {
      const Samples samples = time_pairs(pages, distance, seconds);
      times.push_back({distance, samples.median()});
      shown[std::to_string(distance)] = samples.median();
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

const Registered<Probe> registered{std::make_unique<LineSize>()};

}  // namespace
}  // namespace wulf::node
