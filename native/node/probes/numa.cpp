#include <algorithm>
#include <optional>

#include "core/host/affinity.hpp"
#include "core/json/error.hpp"
#include "node/memory/caches.hpp"
#include "node/memory/chase.hpp"
#include "node/memory/memory_node.hpp"
#include "node/memory/pages.hpp"
#include "node/probe.hpp"
#include "node/stream/stream.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kLeastBytes = std::size_t{64} << 20U;

int node_of(const Json& params) {
  const int node = params.at("memory_node").get<int>();
  const std::vector<int> nodes = memory_nodes();
  if (std::find(nodes.begin(), nodes.end(), node) == nodes.end()) {
    throw bad_parameter("memory_node", "memory_node is " + std::to_string(node) +
                                           ", but the nodes with memory "
                                           "are " +
                                           cpu_list(nodes));
  }
  return node;
}

std::size_t bytes_of(const Json& params) {
  const std::size_t cache = last_caches({params.at("cpu").get<int>()});
  return optional_value<std::size_t>(params, "bytes").value_or(std::max(4 * cache, kLeastBytes));
}

/// Why nothing was measured: the memory is elsewhere, or nobody can tell.
std::optional<std::string> misplaced(const MemoryPolicy& policy, const Placement& found, int node) {
  if (memory_nodes().size() == 1) {
    return std::nullopt;  // it can't be anywhere else
  }
  if (!policy.refused().empty() || !found.reason.empty()) {
    return "memory can't be placed on a node here, or its place not be read: " + policy.refused() + " " +
           found.reason + " (a container's system call filter?)";
  }
  if (found.there < found.asked) {
    return "only " + std::to_string(found.there) + " of " + std::to_string(found.asked) +
           " pages lie on node " + std::to_string(node);
  }
  return std::nullopt;
}

Samples time_read(const Pages& pages, double seconds) {
  const StreamKernel& read = stream_kernels().front();
  const StreamLayout layout = StreamLayout::plan(read, pages.size());
  const std::size_t length = layout.count / layout.pieces;
  const Pass pass = stream_pass(fastest_passes(), read, false);
  const auto* memory = pages.as<double>().data();
  std::size_t piece = 0;
  return time_batches(
             [&](std::uint64_t count) {
               for (std::uint64_t i = 0; i < count; ++i) {
                 double sum = pass(nullptr, memory + (piece * length), nullptr, 0, length);
                 keep(sum);
                 piece = piece + 1 == layout.pieces ? 0 : piece + 1;
               }
             },
             seconds)
      .split(length * sizeof(double));
}

/// A cell of the NUMA matrix: this CPU's latency to, and read throughput from, one node's memory.
class Numa final : public HostProbe {
 public:
  Numa() : HostProbe("numa", "memory", "latency and read throughput of the memory of one NUMA node") {}

  [[nodiscard]] std::vector<Param> params() const override {
    constexpr std::int64_t kMostBytes = 1LL << 38U;
    return {{"memory_node", ParamType::kInt, "1", 0, 0, 1023, "whose memory"},
            {"bytes", ParamType::kInt, "B", nullptr, 1 << 16U, kMostBytes,
             "working set (default: four times the last cache, at least 64 MiB)"},
            pages_param()};
  }

  [[nodiscard]] std::vector<Metric> metrics() const override {
    return {{"latency", "s", "lower", "a dependent load, random lines"},
            {"throughput", "B/s", "higher", "one thread's reads"}};
  }

  [[nodiscard]] Outcome measure(const Json& params) const override {
    const int node = node_of(params);
    std::optional<MemoryPolicy> policy;
    policy.emplace(node);
    const Pages pages(bytes_of(params), params.at("pages").get<std::string>());
    const Placement found = placement(pages.data(), pages.size(), node);
    Json info{{"pages", pages.info()},
              {"bytes", pages.size()},
              {"memory_nodes", cpu_list(memory_nodes())},
              {"verified", {{"pages", found.asked}, {"there", found.there}}}};
    if (!found.reason.empty()) {
      info["verified"]["reason"] = found.reason;
    }
    const auto reason = misplaced(*policy, found, node);
    policy.reset();
    if (reason) {
      return {.metrics = {{"latency", no_value("s", *reason)}, {"throughput", no_value("B/s", *reason)}},
              .info = std::move(info)};
    }
    return time_both(pages, params.at("seconds").get<double>() / 2, std::move(info));
  }

 private:
  static Outcome time_both(const Pages& pages, double seconds, Json info) {
    const Samples reads = time_read(pages, seconds);
    Random random;
    Chains chains = link_random(pages.as<std::byte>(), line_bytes(), 1, random);
    const Samples latency = time_chase(chains, seconds);
    return {.metrics = {{"latency", latency.metric()}, {"throughput", reads.rate("B/s")}},
            .seconds = reads.spent() + latency.spent(),
            .info = std::move(info)};
  }
};

const Registered<HostProbe> registered_numa{std::make_unique<Numa>()};

}  // namespace
}  // namespace wulf::node
