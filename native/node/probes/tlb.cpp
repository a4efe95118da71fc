#include "core/host/huge_pages.hpp"
#include "core/host/memory.hpp"
#include "node/memory/chase.hpp"
#include "node/memory/pages.hpp"
#include "node/probe.hpp"

namespace wulf::node {
namespace {

constexpr std::int64_t kMostEntries = 1 << 22;

/// The places of `count` lines, one in each stretch of `step` bytes, in random order. The i-th lies on the
/// i-th line of its page, so that they spread over a cache's sets as if they lay side by side.
std::vector<std::size_t> places_of(std::size_t count, std::size_t step, std::size_t line, Random& random) {
  std::vector<std::size_t> places;
  places.reserve(count);
  for (const std::uint32_t i : shuffled(count, random)) {
    places.push_back((i * step) + ((i * line) % step));
  }
  return places;
}

/// A chase over one line in each of so many pages. The same lines packed side by side need as much cache and
/// few pages: what is slower than those is address translation.
class Tlb final : public HostProbe {
 public:
  Tlb() : HostProbe("tlb", "memory", "latency of dependent loads, each from another page") {}

  [[nodiscard]] std::vector<Param> params() const override {
    return {{"entries", ParamType::kInt, "1", 64, 2, kMostEntries, "pages; a line is read in each"},
            pages_param()};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "a load"},
            {"packed", "s", "lower", "a load where the same lines lie side by side"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const auto entries = params.at("entries").get<std::size_t>();
    const auto kind = params.at("pages").get<std::string>();
    const std::size_t page = kind == "huge" ? kHugePage : page_bytes();
    const double seconds = params.at("seconds").get<double>() / 2;
    const Pages pages(entries * page, kind);
    const Json lies_on = pages.info();
    Json info{{"pages", lies_on}, {"page", {{"unit", "B"}, {"value", page}}}};
    if (kind == "huge" && lies_on.at("small") != 0) {
      const std::string reason = "the system gave small pages for " + lies_on.at("small").dump() + " of " +
                                 std::to_string(pages.size()) +
                                 " B: see /sys/kernel/mm/transparent_hugepage/enabled, and free memory";
      return {.metrics = {{"latency", no_value("s", reason)}, {"packed", no_value("s", reason)}},
              .info = std::move(info)};
    }
    const Samples spread = time_places(pages.data(), entries, page, seconds);
    const Samples packed = time_places(pages.data(), entries, line_bytes(), seconds);
    return {.metrics = {{"latency", spread.metric()}, {"packed", packed.metric()}},
            .seconds = spread.spent() + packed.spent(),
            .info = std::move(info)};
  }

 private:
  static Samples time_places(std::byte* memory, std::size_t count, std::size_t step, double seconds) {
    Random random;
    Chains chains = link_in_order(memory, places_of(count, step, line_bytes(), random), 1);
    return time_chase(chains, seconds);
  }
};

const Registered<HostProbe> registered_tlb{std::make_unique<Tlb>()};

}  // namespace
}  // namespace wulf::node
