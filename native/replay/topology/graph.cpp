#include <string>
#include <unordered_map>
#include <utility>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "replay/topology/parts.hpp"

namespace wulf::replay {
namespace {

using NodeId = std::uint32_t;

/// Any hosts and switches. Ways that are not given are shortest ones, by links; where several are as short,
/// the destination's number chooses at every node, as forwarding tables of one entry a destination do.
class Graph final : public Topology {
 public:
  explicit Graph(std::vector<std::string> hosts)
      : Topology(static_cast<std::uint32_t>(hosts.size())), names_(std::move(hosts)) {
    for (const std::string& host : names_) {
      if (!nodes_.try_emplace(host, static_cast<NodeId>(nodes_.size())).second) {
        throw bad_parameter("topology.hosts", "topology.hosts names " + host + " twice");
      }
    }
    leaving_.resize(nodes_.size());
    arriving_.resize(nodes_.size());
  }

  /// One way; both nodes are made where they are new.
  void connect(const std::string& from, const std::string& to, std::uint64_t rate) {
    const NodeId a = node(from);
    const NodeId b = node(to);
    const LinkId link = add_link(rate);
    leaving_[a].push_back({b, link});
    arriving_[b].push_back(a);
  }

  /// A way through the nodes of that list. Throws bad-parameter where two are not connected.
  void lay(const std::vector<std::string>& through) {
    std::vector<LinkId> path;
    for (std::size_t i = 0; i + 1 < through.size(); ++i) {
      path.push_back(between(through[i], through[i + 1]));
    }
    laid_[pair(host(through.front()), host(through.back()))] = std::move(path);
  }

 private:
  struct Exit {
    NodeId to;
    LinkId link;
  };
  using Distances = std::vector<std::uint32_t>;

  static std::uint64_t pair(NodeId from, NodeId to) { return static_cast<std::uint64_t>(from) << 32U | to; }

  NodeId node(const std::string& name) {
    const auto [place, made] = nodes_.try_emplace(name, static_cast<NodeId>(nodes_.size()));
    if (made) {
      names_.push_back(name);
      leaving_.emplace_back();
      arriving_.emplace_back();
    }
    return place->second;
  }

  [[nodiscard]] NodeId known(const std::string& name) const {
    const auto found = nodes_.find(name);
    if (found == nodes_.end()) {
      throw bad_parameter("topology.routes", "topology.routes names " + name + ", which has no link");
    }
    return found->second;
  }

  [[nodiscard]] NodeId host(const std::string& name) const {
    const NodeId id = known(name);
    if (id >= places()) {
      throw bad_parameter("topology.routes", "A way in topology.routes begins or ends at " + name +
                                                 ", which is none of topology.hosts");
    }
    return id;
  }

  [[nodiscard]] LinkId between(const std::string& from, const std::string& to) const {
    const NodeId goal = known(to);
    for (const Exit& exit : leaving_[known(from)]) {
      if (exit.to == goal) {
        return exit.link;
      }
    }
    throw bad_parameter("topology.routes",
                        "A way in topology.routes goes from " + from + " to " + to + ", but no link does");
  }

  /// Every node's distance to a host, in links; found once.
  [[nodiscard]] const Distances& distances(NodeId to) const {
    const auto [place, made] = distances_.try_emplace(to);
    Distances& far = place->second;
    if (made) {
      far.assign(leaving_.size(), UINT32_MAX);
      far[to] = 0;
      std::vector<NodeId> found{to};
      for (std::size_t i = 0; i < found.size(); ++i) {
        for (const NodeId before : arriving_[found[i]]) {
          if (far[before] == UINT32_MAX) {
            far[before] = far[found[i]] + 1;
            found.push_back(before);
          }
        }
      }
    }
    return far;
  }

  /// The exits that lead closer: one of them by the destination's number.
  [[nodiscard]] Exit next(NodeId at, NodeId to, const Distances& far) const {
    std::vector<Exit> closer;
    for (const Exit& exit : leaving_[at]) {
      if (far[exit.to] + 1 == far[at]) {
        closer.push_back(exit);
      }
    }
    return closer[to % closer.size()];
  }

  void find_route(std::uint32_t from, std::uint32_t to, std::vector<LinkId>& path) const override {
    const auto laid = laid_.find(pair(from, to));
    if (laid != laid_.end()) {
      path.insert(path.end(), laid->second.begin(), laid->second.end());
      return;
    }
    const Distances& far = distances(to);
    if (far[from] == UINT32_MAX) {
      throw bad_parameter("topology.links", "No way leads from " + names_[from] + " to " + names_[to] +
                                                ": connect them in topology.links");
    }
    for (NodeId at = from; at != to;) {
      const Exit exit = next(at, to, far);
      path.push_back(exit.link);
      at = exit.to;
    }
  }

  std::unordered_map<std::string, NodeId> nodes_;  ///< hosts first, in their order
  std::vector<std::string> names_;
  std::vector<std::vector<Exit>> leaving_;
  std::vector<std::vector<NodeId>> arriving_;
  std::unordered_map<std::uint64_t, std::vector<LinkId>> laid_;
  mutable std::unordered_map<NodeId, Distances> distances_;
};

std::vector<std::string> names_in(const Json& list, const std::string& field, std::size_t least) {
  std::vector<std::string> names;
  for (const Json& name : list) {
    if (!name.is_string()) {
      throw bad_parameter(field, field + " has " + name.dump() + ", but must hold names");
    }
    names.push_back(name.get<std::string>());
  }
  if (names.size() < least) {
    throw bad_parameter(
        field, field + " has " + list.dump() + ", but each must name at least " + std::to_string(least));
  }
  return names;
}

void connect(Graph& graph, const Json& link) {
  constexpr const char* kField = "topology.links";
  if (!link.is_object()) {
    throw bad_parameter(kField, std::string(kField) + " has " + link.dump() + ", but each must be an object");
  }
  refuse_unknown_fields(link, {"from", "to", "bytes_per_second", "one_way"});
  const std::uint64_t rate = rate_of(link.value("bytes_per_second", Json()), "links.bytes_per_second");
  const std::string from = text_field(link, "from");
  const std::string to = text_field(link, "to");
  graph.connect(from, to, rate);
  const Json one_way = link.value("one_way", Json(false));
  if (!one_way.is_boolean()) {
    throw bad_parameter(kField, "one_way of a link is " + one_way.dump() + ", but must be true or false");
  }
  if (!one_way.get<bool>()) {
    graph.connect(to, from, rate);
  }
}

}  // namespace

std::unique_ptr<Topology> graph_of(const Json& json, std::uint32_t) {
  refuse_unknown_fields(json, {"kind", "hosts", "links", "routes"});
  auto graph = std::make_unique<Graph>(names_in(list_field(json, "hosts"), "topology.hosts", 1));
  for (const Json& link : list_field(json, "links")) {
    connect(*graph, link);
  }
  if (json.contains("routes")) {
    for (const Json& way : list_field(json, "routes")) {
      graph->lay(names_in(way, "topology.routes", 2));
    }
  }
  return graph;
}

}  // namespace wulf::replay
