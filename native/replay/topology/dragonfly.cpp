#include <algorithm>
#include <string>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "replay/topology/parts.hpp"

namespace wulf::replay {
namespace {

struct Sizes {
  std::uint32_t groups;
  std::uint32_t routers;  ///< of a group, each joined to each
  std::uint32_t hosts;    ///< of a router
  std::uint32_t links;    ///< of a router, to other groups

  [[nodiscard]] std::uint64_t places() const { return std::uint64_t{groups} * routers * hosts; }
  [[nodiscard]] std::uint32_t ports() const { return routers * links; }
};

struct LinkRates {
  std::uint64_t host;
  std::uint64_t local;
  std::uint64_t global;
};

/// How a message's way is chosen.
enum class Routing { kMinimal, kValiant, kAdaptive };

/// A dragonfly: Kim, Dally, Scott and Abts, "Technology-driven, highly-scalable dragonfly topology" (ISCA
/// 2008).
///
/// A group's ports to others are numbered router by router; port k of group i leads to the group k mod
/// (groups - 1) + 1 further on, so that all pairs of groups have as many links, or one more or less. Which of
/// them a pair of hosts takes, the destination's number says. The minimal way has one such link. A detour
/// goes by a third group, as Valiant's ways do; adaptive routing takes it where it is less crowded (UGAL).
class Dragonfly final : public Topology {
 public:
  Dragonfly(const Sizes& sizes, const LinkRates& rates, Routing routing)
      : Topology(static_cast<std::uint32_t>(sizes.places())),
        sizes_(sizes),
        routing_(routing),
        host_(add_links(2 * sizes.places(), rates.host)),
        local_(add_links(std::uint64_t{sizes.groups} * sizes.routers * sizes.routers, rates.local)),
        global_(add_links(std::uint64_t{sizes.groups} * sizes.ports(), rates.global)) {}

  [[nodiscard]] std::uint32_t detours() const override {
    constexpr std::uint32_t kTried = 4;
    return routing_ == Routing::kAdaptive ? std::min(kTried, between()) : 0;
  }

 private:
  /// A router, by its group and its number there.
  struct Router {
    std::uint32_t group;
    std::uint32_t number;
  };

  [[nodiscard]] std::uint32_t between() const { return sizes_.groups > 2 ? sizes_.groups - 2 : 0; }
  [[nodiscard]] Router router_of(std::uint32_t place) const {
    const std::uint32_t router = place / sizes_.hosts;
    return {.group = router / sizes_.routers, .number = router % sizes_.routers};
  }

  void find_route(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& path) const override {
    if (routing_ == Routing::kValiant) {
      // from and to are spread over all groups, and the same for the same pair
      find_detour(from, to, (from * 0x9E3779B1ULL) + to, path);
    } else {
      go(from, to, router_of(to).group, path);
    }
  }

  void find_detour(std::uint32_t from, std::uint32_t to, std::uint64_t which,
                   std::vector<LinkId>& path) const override {
    const std::uint32_t first = router_of(from).group;
    const std::uint32_t last = router_of(to).group;
    if (first == last || between() == 0) {
      go(from, to, last, path);
      return;
    }
    const auto [low, high] = std::minmax(first, last);
    auto by = static_cast<std::uint32_t>(which % between());
    by += by >= low ? 1 : 0;
    by += by >= high ? 1 : 0;
    go(from, to, by, path);
  }

  /// From one host to another by way of a group.
  void go(std::uint32_t from, std::uint32_t to, std::uint32_t by, std::vector<LinkId>& path) const {
    if (from == to) {
      return;
    }
    path.push_back(host_ + (2 * from));
    const Router goal = router_of(to);
    Router at = router_of(from);
    if (by != goal.group) {
      at = cross(at, by, to, path);
    }
    at = cross(at, goal.group, to, path);
    step(at, goal.number, path);
    path.push_back(host_ + (2 * to) + 1);
  }

  /// To another group by one of the links that lead there; the router at its end.
  [[nodiscard]] Router cross(Router at, std::uint32_t group, std::uint32_t to,
                             std::vector<LinkId>& path) const {
    if (at.group == group) {
      return at;
    }
    const std::uint32_t ahead = (group + sizes_.groups - at.group) % sizes_.groups;
    const std::uint32_t which = to % cables(ahead);
    const std::uint32_t port = (ahead - 1) + (which * (sizes_.groups - 1));
    const std::uint32_t back = (sizes_.groups - ahead - 1) + (which * (sizes_.groups - 1));
    step(at, port / sizes_.links, path);
    path.push_back(static_cast<LinkId>(global_ + (std::uint64_t{at.group} * sizes_.ports()) + port));
    return {.group = group, .number = back / sizes_.links};
  }

  /// How many cables lead to the group so far ahead, which has as many that lead back.
  [[nodiscard]] std::uint32_t cables(std::uint32_t ahead) const {
    const auto leading = [this](std::uint32_t offset) {
      return ((sizes_.ports() - offset) / (sizes_.groups - 1)) +
             ((sizes_.ports() - offset) % (sizes_.groups - 1) != 0 ? 1 : 0);
    };
    return std::min(leading(ahead - 1), leading(sizes_.groups - ahead - 1));
  }

  /// To another router of the group.
  void step(Router at, std::uint32_t number, std::vector<LinkId>& path) const {
    if (at.number != number) {
      const std::uint64_t pair = (std::uint64_t{at.number} * sizes_.routers) + number;
      path.push_back(
          static_cast<LinkId>(local_ + (std::uint64_t{at.group} * sizes_.routers * sizes_.routers) + pair));
    }
  }

  Sizes sizes_;
  Routing routing_;
  LinkId host_;
  LinkId local_;
  LinkId global_;
};

Routing routing_of(const Json& json) {
  const std::string routing = json.contains("routing") ? text_field(json, "routing") : "adaptive";
  if (routing == "minimal") {
    return Routing::kMinimal;
  }
  if (routing == "valiant") {
    return Routing::kValiant;
  }
  if (routing != "adaptive") {
    throw bad_parameter("topology.routing",
                        "topology.routing is " + routing + ", but must be minimal, valiant or adaptive");
  }
  return Routing::kAdaptive;
}

std::uint32_t size_of(const Json& json, const std::string& name) {
  constexpr std::uint32_t kMost = 1U << 16U;
  return whole_of(json.value(name, Json()), "topology." + name, 1, kMost);
}

}  // namespace

std::unique_ptr<Topology> dragonfly_of(const Json& json, std::uint32_t) {
  refuse_unknown_fields(json, {"kind", "groups", "routers", "hosts", "links", "bytes_per_second",
                               "global_bytes_per_second", "host_bytes_per_second", "routing"});
  const Sizes sizes{.groups = size_of(json, "groups"),
                    .routers = size_of(json, "routers"),
                    .hosts = size_of(json, "hosts"),
                    .links = size_of(json, "links")};
  if (sizes.places() > kMostLinks) {
    throw bad_parameter("topology", "The dragonfly has more than " + std::to_string(kMostLinks) +
                                        " places: give fewer groups, routers or hosts");
  }
  if (sizes.groups > 1 && sizes.groups - 1 > std::uint64_t{sizes.routers} * sizes.links) {
    throw bad_parameter("topology.groups",
                        "topology.groups is " + std::to_string(sizes.groups) + ", but a group of " +
                            std::to_string(sizes.routers) + " routers with " + std::to_string(sizes.links) +
                            " links each reaches " +
                            std::to_string(std::uint64_t{sizes.routers} * sizes.links) + " others");
  }
  const std::uint64_t local = rate_field(json, "bytes_per_second");
  const auto rate = [&json, local](const std::string& name) {
    return json.contains(name) ? rate_field(json, name) : local;
  };
  return std::make_unique<Dragonfly>(
      sizes,
      LinkRates{
          .host = rate("host_bytes_per_second"), .local = local, .global = rate("global_bytes_per_second")},
      routing_of(json));
}

}  // namespace wulf::replay
