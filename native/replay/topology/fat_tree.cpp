#include <cmath>
#include <string>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "replay/topology/parts.hpp"

namespace wulf::replay {
namespace {

/// What a level of switches has below it (each: hosts or switches) and how many links go up from each of
/// those.
struct Level {
  std::uint32_t below;
  std::uint32_t up;
};

struct Rates {
  std::uint64_t link;
  std::uint64_t host;
};

/// A fat tree as an extended generalised fat tree: Öhring et al., "On generalized fat trees" (IPPS 1995).
///
/// At level l a subtree holds below[1]·…·below[l] hosts and up[1]·…·up[l] switches of its top level; a switch
/// of level l in it is named by (subtree, replica). Static ways take at each level the port that the
/// destination's number says ("d-mod-k": Zahavi, J. Parallel Distrib. Comput. 72 (2012)). With spread ways
/// all links between a subtree and the level above are one link of their joint rate: what packet spraying or
/// ideal adaptive routing can reach.
class FatTree final : public Topology {
 public:
  FatTree(std::vector<Level> levels, std::uint32_t places, Rates rates, bool spread)
      : Topology(places), levels_(std::move(levels)), spread_(spread) {
    std::uint64_t hosts = 1;
    std::uint64_t replicas = 1;
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      replicas *= levels_[l].up;
      const std::uint64_t subtrees = places / hosts;
      const std::uint64_t rate = l == 0 ? rates.host : rates.link;
      begins_.push_back(spread ? add_links(2 * subtrees, rate * replicas)
                               : add_links(2 * subtrees * replicas, rate));
      hosts *= levels_[l].below;
    }
  }

 private:
  /// The link between a subtree below level l and the replica of level l's switches.
  [[nodiscard]] LinkId link(std::size_t level, std::uint64_t subtree, std::uint64_t replica,
                            std::uint64_t replicas, bool down) const {
    const std::uint64_t number = spread_ ? subtree : (subtree * replicas) + replica;
    return static_cast<LinkId>(begins_[level] + (2 * number) + (down ? 1 : 0));
  }

  void find_route(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& path) const override {
    std::vector<LinkId> downward;
    std::uint64_t hosts = 1;
    std::uint64_t replicas = 1;  // of the level's switches in a subtree
    std::uint64_t replica = 0;   // the one taken: its digits are the ports
    for (std::size_t l = 0; l < levels_.size() && from / hosts != to / hosts; ++l) {
      const std::uint64_t port = to / replicas % levels_[l].up;
      replica += port * replicas;
      replicas *= levels_[l].up;
      path.push_back(link(l, from / hosts, replica, replicas, false));
      downward.push_back(link(l, to / hosts, replica, replicas, true));
      hosts *= levels_[l].below;
    }
    path.insert(path.end(), downward.rbegin(), downward.rend());
  }

  std::vector<Level> levels_;
  std::vector<LinkId> begins_;  ///< by level
  bool spread_;
};

/// Levels of switches with `ports` ports; of the lowest level's, r times as many go down as up.
std::vector<Level> levels_of(std::uint32_t ports, std::uint32_t levels, double oversubscription) {
  const auto leaf_down =
      static_cast<std::uint32_t>(std::lround(ports * oversubscription / (1 + oversubscription)));
  if (leaf_down < 1 || leaf_down >= ports) {
    throw bad_parameter("topology.oversubscription", "With topology.oversubscription " +
                                                         std::to_string(oversubscription) + " a switch of " +
                                                         std::to_string(ports) +
                                                         " ports has none left in one direction");
  }
  std::vector<Level> made{{levels == 1 ? ports : leaf_down, 1}};
  made.reserve(levels);
  for (std::uint32_t l = 1; l < levels; ++l) {
    const std::uint32_t up = l == 1 ? ports - leaf_down : ports / 2;
    made.push_back({l + 1 == levels ? ports : ports / 2, up});
  }
  return made;
}

/// Levels as their sizes are given: topology.down and topology.up.
std::vector<Level> levels_of(const Json& json) {
  const Json& down = list_field(json, "down");
  const Json& up = list_field(json, "up");
  if (up.size() != down.size()) {
    throw bad_parameter("topology.up", "topology.down has " + std::to_string(down.size()) +
                                           " levels, topology.up " + std::to_string(up.size()) +
                                           ": give both one figure a level");
  }
  constexpr std::uint32_t kMost = 1U << 20U;
  std::vector<Level> made;
  made.reserve(down.size());
  for (std::size_t l = 0; l < down.size(); ++l) {
    made.push_back(
        {whole_of(down.at(l), "topology.down", 1, kMost), whole_of(up.at(l), "topology.up", 1, kMost)});
  }
  return made;
}

std::uint32_t places_of(const std::vector<Level>& levels) {
  std::uint64_t places = 1;
  std::uint64_t replicas = 1;
  for (const Level& level : levels) {
    places *= level.below;
    replicas *= level.up;
    if (places > kMostLinks || replicas > kMostLinks) {
      throw bad_parameter("topology", "The fat tree has more than " + std::to_string(kMostLinks) +
                                          " places or switches of a level: give fewer levels or ports");
    }
  }
  return static_cast<std::uint32_t>(places);
}

double oversubscription_of(const Json& json) {
  const Json value = json.value("oversubscription", Json(1));
  if (!value.is_number() || !(value.get<double>() > 0)) {
    throw bad_parameter("topology.oversubscription",
                        "topology.oversubscription is " + value.dump() +
                            ", but must be a number above 0: ports down for one up");
  }
  return value.get<double>();
}

}  // namespace

std::unique_ptr<Topology> fat_tree_of(const Json& json, std::uint32_t) {
  refuse_unknown_fields(json, {"kind", "ports", "levels", "oversubscription", "down", "up",
                               "bytes_per_second", "host_bytes_per_second", "routing"});
  std::vector<Level> levels;
  if (json.contains("down")) {
    levels = levels_of(json);
  } else {
    constexpr std::uint32_t kMostPorts = 4096;
    constexpr std::uint32_t kMostLevels = 6;
    levels = levels_of(whole_of(json.value("ports", Json()), "topology.ports", 2, kMostPorts),
                       whole_of(json.value("levels", Json(2)), "topology.levels", 1, kMostLevels),
                       oversubscription_of(json));
  }
  const std::string routing = json.value("routing", Json("static")).dump();
  if (routing != "\"static\"" && routing != "\"spread\"") {
    throw bad_parameter("topology.routing",
                        "topology.routing is " + routing + ", but must be static or spread");
  }
  const std::uint64_t link = rate_field(json, "bytes_per_second");
  const std::uint64_t host =
      json.contains("host_bytes_per_second") ? rate_field(json, "host_bytes_per_second") : link;
  const std::uint32_t places = places_of(levels);
  return std::make_unique<FatTree>(std::move(levels), places, Rates{link, host}, routing == "\"spread\"");
}

}  // namespace wulf::replay
