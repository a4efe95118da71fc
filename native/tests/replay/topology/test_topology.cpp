#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <string>

#include "core/json/error.hpp"
#include "replay/topology/topology.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf;
using namespace wulf::replay;

using Path = std::vector<LinkId>;

Path way(const Topology& topology, std::uint32_t from, std::uint32_t to) {
  Path path;
  topology.route(from, to, path);
  return path;
}

std::uint64_t slowest(const Topology& topology, const Path& path) {
  std::uint64_t rate = UINT64_MAX;
  for (const LinkId link : path) {
    rate = std::min(rate, topology.rates().at(link));
  }
  return rate;
}

TEST_CASE("replay topology: a star's host has a way up and a way down") {
  const auto star = make_topology(Json::parse(R"({"kind": "star", "bytes_per_second": [10, 20, 30]})"), 3);
  CHECK(way(*star, 0, 1) == Path{0, 3});
  CHECK(way(*star, 1, 0) == Path{2, 1});
  CHECK(slowest(*star, way(*star, 2, 1)) == 20);
  const auto shared = make_topology(
      Json::parse(R"({"kind": "star", "bytes_per_second": 10, "backplane_bytes_per_second": 15})"), 3);
  CHECK(way(*shared, 0, 1) == Path{0, 6, 3});
}

TEST_CASE("replay topology: hosts may stand anywhere") {
  const auto star = make_topology(
      Json::parse(R"({"kind": "star", "bytes_per_second": [1, 2, 3], "positions": [2, 0]})"), 2);
  CHECK(way(*star, 0, 1) == Path{4, 1});
}

TEST_CASE("replay topology: hosts may stand at random, or so many places apart") {
  const auto first_link = [](const char* positions) {
    Json json = Json::parse(R"({"kind": "star", "bytes_per_second": 1})");
    json["positions"] = Json::parse(positions);
    const auto star = make_topology(json, 7);
    std::vector<LinkId> found;
    found.reserve(7);
    for (std::uint32_t host = 0; host < 7; ++host) {
      found.push_back(way(*star, host, (host + 1) % 7).front() / 2);
    }
    return found;
  };
  CHECK(first_link(R"({"every": 3})") == std::vector<LinkId>{0, 3, 6, 1, 4, 2, 5});
  const std::vector<LinkId> some = first_link(R"({"random": 1})");
  CHECK(std::set<LinkId>(some.begin(), some.end()).size() == 7);
  CHECK(some == first_link(R"({"random": 1})"));
  CHECK(some != first_link(R"({"random": 2})"));
}

TEST_CASE("replay topology: a fat tree has the places and the links that its switches have ports for") {
  // k^3/4 hosts of k-port switches in 3 levels, with as many links at each level (Al-Fares et al., SIGCOMM
  // 2008)
  const auto tree = make_topology(
      Json::parse(R"({"kind": "fat-tree", "ports": 4, "levels": 3, "bytes_per_second": 10})"), 16);
  CHECK(tree->places() == 16);
  CHECK(tree->rates().size() == std::size_t{2} * 3 * 16);
  CHECK(way(*tree, 0, 1).size() == 2);
  CHECK(way(*tree, 0, 2).size() == 4);
  CHECK(way(*tree, 0, 15).size() == 6);
}

TEST_CASE("replay topology: in a full fat tree, a shift of all hosts shares no link") {
  // what d-mod-k is for: Zahavi, J. Parallel Distrib. Comput. 72 (2012)
  const auto tree = make_topology(
      Json::parse(R"({"kind": "fat-tree", "ports": 8, "levels": 3, "bytes_per_second": 10})"), 128);
  for (std::uint32_t shift = 1; shift < 128; ++shift) {
    std::map<LinkId, int> users;
    for (std::uint32_t host = 0; host < 128; ++host) {
      for (const LinkId link : way(*tree, host, (host + shift) % 128)) {
        ++users[link];
      }
    }
    for (const auto& [link, count] : users) {
      REQUIRE(count == 1);
    }
  }
}

TEST_CASE("replay topology: oversubscription takes from the ways up; spread ways are one") {
  const auto tree =
      make_topology(Json::parse(R"({"kind": "fat-tree", "ports": 8, "levels": 2, "oversubscription": 3,
                                                 "bytes_per_second": 10})"),
                    48);
  CHECK(tree->places() == 48);  // 6 hosts a leaf, 8 leaves
  std::set<LinkId> up;
  for (std::uint32_t to = 6; to < 48; ++to) {
    up.insert(way(*tree, 0, to).at(1));
  }
  CHECK(up.size() == 2);
  const auto spread =
      make_topology(Json::parse(R"({"kind": "fat-tree", "ports": 8, "levels": 2, "oversubscription": 3,
                                                   "bytes_per_second": 10, "routing": "spread"})"),
                    48);
  CHECK(way(*spread, 0, 7).at(1) == way(*spread, 5, 40).at(1));
  CHECK(spread->rates().at(way(*spread, 0, 7).at(1)) == 20);
}

TEST_CASE("replay topology: a fat tree by its levels' sizes") {
  const auto tree = make_topology(Json::parse(R"({"kind": "fat-tree", "down": [2, 3], "up": [1, 4],
                                                 "bytes_per_second": 10, "host_bytes_per_second": 5})"),
                                  6);
  CHECK(tree->places() == 6);
  CHECK(slowest(*tree, way(*tree, 0, 5)) == 5);
  CHECK(tree->rates().size() == std::size_t{2} * (6 + (3 * 4)));
}

TEST_CASE("replay topology: a torus goes the shorter way round, dimension by dimension") {
  const auto torus =
      make_topology(Json::parse(R"({"kind": "torus", "dims": [4, 5, 2], "bytes_per_second": 10})"), 40);
  CHECK(torus->places() == 40);
  const auto at = [](std::uint32_t x, std::uint32_t y, std::uint32_t z) { return (((x * 5) + y) * 2) + z; };
  CHECK(way(*torus, at(0, 0, 0), at(3, 4, 1)).size() == 3);
  CHECK(way(*torus, at(0, 0, 0), at(2, 2, 0)).size() == 4);
  CHECK(way(*torus, 7, 7).empty());
  for (std::uint32_t from = 0; from < 40; ++from) {
    for (std::uint32_t to = 0; to < 40; ++to) {
      const Path path = way(*torus, from, to);
      CHECK(std::set<LinkId>(path.begin(), path.end()).size() == path.size());
    }
  }
  // both go from (0, 0) to (0, 1) in the second dimension
  CHECK(way(*torus, at(0, 0, 0), at(0, 1, 0)).back() == way(*torus, at(0, 0, 0), at(0, 2, 0)).front());
}

/// 9 groups of 4 routers with 2 hosts and 2 links to other groups: one cable between each two groups.
Json dragonfly(const char* routing) {
  return {{"kind", "dragonfly"},    {"groups", 9},       {"routers", 4}, {"hosts", 2}, {"links", 2},
          {"bytes_per_second", 10}, {"routing", routing}};
}

constexpr std::uint32_t kDragonflyHosts = 72;
constexpr LinkId kGlobal = (2 * kDragonflyHosts) + (9 * 4 * 4);  // behind hosts' and routers' links

std::vector<LinkId> global_links(const Path& path) {
  std::vector<LinkId> found;
  std::copy_if(path.begin(), path.end(), std::back_inserter(found),
               [](LinkId link) { return link >= kGlobal; });
  return found;
}

TEST_CASE("replay topology: a dragonfly's minimal ways take one cable between two groups") {
  const auto topology = make_topology(dragonfly("minimal"), kDragonflyHosts);
  CHECK(topology->places() == kDragonflyHosts);
  CHECK(topology->detours() == 0);
  CHECK(way(*topology, 0, 1).size() == 2);  // of one router
  CHECK(way(*topology, 0, 7).size() == 3);  // of one group
  CHECK(way(*topology, 5, 5).empty());
  const auto group = [](std::uint32_t host) { return host / 8; };
  const auto router = [](std::uint32_t host) { return host / 2; };
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<LinkId>> cables;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> leave;  // routers at either end
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>> land;
  for (std::uint32_t from = 0; from < kDragonflyHosts; ++from) {
    for (std::uint32_t to = 0; to < kDragonflyHosts; ++to) {
      const Path path = way(*topology, from, to);
      CHECK(std::set<LinkId>(path.begin(), path.end()).size() == path.size());
      if (group(from) == group(to)) {
        CHECK(global_links(path).empty());
        continue;
      }
      const std::pair pair{group(from), group(to)};
      const std::vector<LinkId> over = global_links(path);
      REQUIRE(over.size() == 1);
      cables[pair].insert(over.front());
      if (path[1] == over.front()) {
        leave[pair].insert(router(from));
      }
      if (path[path.size() - 2] == over.front()) {
        land[pair].insert(router(to));
      }
    }
  }
  CHECK(cables.size() == std::size_t{9} * 8);
  std::set<LinkId> all;
  for (const auto& [pair, links] : cables) {
    CHECK(links.size() == 1);
    all.insert(links.begin(), links.end());
    CHECK(leave[pair].size() == 1);
    CHECK(land[pair] == leave[std::pair{pair.second, pair.first}]);  // a cable has the same ends both ways
  }
  CHECK(all.size() == cables.size());
}

TEST_CASE("replay topology: Valiant's ways of a dragonfly go by a third group, and detours do") {
  const auto valiant = make_topology(dragonfly("valiant"), kDragonflyHosts);
  const auto adaptive = make_topology(dragonfly("adaptive"), kDragonflyHosts);
  CHECK(global_links(way(*valiant, 0, 71)).size() == 2);
  CHECK(global_links(way(*valiant, 0, 7)).empty());
  CHECK(global_links(way(*adaptive, 0, 71)).size() == 1);
  CHECK(adaptive->detours() == 4);
  std::set<LinkId> second;
  for (std::uint64_t which = 0; which < 7; ++which) {
    Path path;
    adaptive->detour(0, 71, which, path);
    REQUIRE(global_links(path).size() == 2);
    second.insert(global_links(path).back());
  }
  CHECK(second.size() == 7);  // each third group has a cable of its own to the last
}

TEST_CASE("replay topology: with fewer groups than ports, destinations share several cables") {
  Json few = dragonfly("minimal");
  few["groups"] = 3;
  const auto topology = make_topology(few, 24);
  std::set<LinkId> cables;
  for (std::uint32_t to = 8; to < 16; ++to) {
    const Path path = way(*topology, 0, to);
    cables.insert(path.at(path.size() - (path.size() == 5 ? 3 : 2)));
  }
  CHECK(cables.size() >= 4);
}

const char* const kGraph = R"({"kind": "graph", "hosts": ["a", "b", "c"],
  "links": [{"from": "a", "to": "s", "bytes_per_second": 10}, {"from": "b", "to": "s", "bytes_per_second": 20},
            {"from": "s", "to": "t", "bytes_per_second": 30}, {"from": "s", "to": "u", "bytes_per_second": 40},
            {"from": "t", "to": "c", "bytes_per_second": 50}, {"from": "u", "to": "c", "bytes_per_second": 60,
             "one_way": true}],
  "routes": [["b", "s", "u", "c"]]})";

TEST_CASE("replay topology: a graph's ways are the shortest, or those that are given") {
  const auto graph = make_topology(Json::parse(kGraph), 3);
  CHECK(slowest(*graph, way(*graph, 0, 1)) == 10);
  CHECK(way(*graph, 0, 1).size() == 2);
  CHECK(way(*graph, 1, 2) == Path{2, 6, 10});
  CHECK(way(*graph, 2, 0).size() == 3);  // by t alone: u's link is one way
  CHECK(slowest(*graph, way(*graph, 2, 1)) == 20);
}

TEST_CASE("replay topology: a description may stand in a file") {
  const auto path =
      std::filesystem::temp_directory_path() / ("wulf-topology-" + std::to_string(getpid()) + ".json");
  std::ofstream(path) << kGraph;
  const auto graph = make_topology({{"kind", "file"}, {"path", path.string()}}, 3);
  CHECK(way(*graph, 1, 2).size() == 3);
  std::filesystem::remove(path);
}

TEST_CASE("replay topology: nobody waits for a file that is none, and none fills the memory") {
  const auto path =
      std::filesystem::temp_directory_path() / ("wulf-topology-" + std::to_string(getpid()) + ".json");
  std::ofstream(path) << kGraph;
  std::filesystem::resize_file(path, std::uintmax_t{1} << 40);
  for (const std::string& name : {path.string(), std::string("/dev/zero"), std::string("/")}) {
    INFO(name);
    CHECK_THROWS_WITH(make_topology({{"kind", "file"}, {"path", name}}, 3),
                      Catch::Contains("is no regular file of 64 MiB at most"));
  }
  std::filesystem::remove(path);
}

TEST_CASE("replay topology: what can't be is refused by name") {
  for (const auto& [text, field] : std::initializer_list<std::pair<const char*, const char*>>{
           {R"({"kind": "fat-tree", "ports": 4, "levels": 2, "bytes_per_second": 1})", "topology"},
           {R"({"kind": "fat-tree", "ports": 64, "levels": 6, "bytes_per_second": 1})", "topology"},
           {R"({"kind": "fat-tree", "ports": 29, "levels": 5, "oversubscription": 3, "bytes_per_second": 1})",
            "topology"},
           {R"({"kind": "fat-tree", "ports": 4, "oversubscription": 9, "bytes_per_second": 1})",
            "topology.oversubscription"},
           {R"({"kind": "fat-tree", "ports": 8, "routing": "best", "bytes_per_second": 1})",
            "topology.routing"},
           {R"({"kind": "fat-tree", "down": [2], "up": [1, 2], "bytes_per_second": 1})", "topology.up"},
           {R"({"kind": "fat-tree", "bytes_per_second": 1})", "topology.ports"},
           {R"({"kind": "torus", "dims": [], "bytes_per_second": 1})", "topology.dims"},
           {R"({"kind": "torus", "dims": [99999, 99999], "bytes_per_second": 1})", "topology.dims"},
           {R"({"kind": "star", "bytes_per_second": 1, "positions": [0]})", "topology.positions"},
           {R"({"kind": "star", "bytes_per_second": 1, "positions": {"near": 1}})", "topology.positions"},
           {R"({"kind": "dragonfly", "groups": 6, "routers": 2, "hosts": 1, "links": 2,
                "bytes_per_second": 1})",
            "topology.groups"},
           {R"({"kind": "dragonfly", "groups": 3, "routers": 2, "hosts": 0, "links": 2,
                "bytes_per_second": 1})",
            "topology.hosts"},
           {R"({"kind": "dragonfly", "groups": 3, "routers": 2, "hosts": 4, "links": 2,
                "bytes_per_second": 1, "routing": "best"})",
            "topology.routing"},
           {R"({"kind": "graph", "hosts": ["a", "a"], "links": []})", "topology.hosts"},
           {R"({"kind": "graph", "hosts": ["a", "b"], "links": [1]})", "topology.links"},
           {R"({"kind": "graph", "hosts": ["a", "b"], "links": [{"from": "a", "to": "b"}]})",
            "topology.links.bytes_per_second"}}) {
    INFO(text);
    try {
      (void)make_topology(Json::parse(text), 12);
      FAIL("no error");
    } catch (const Error& error) {
      CHECK(error.code() == "bad-parameter");
      CHECK(error.field() == field);
    }
  }
}

TEST_CASE("replay topology: hosts without a way between them are named") {
  const auto graph = make_topology(Json::parse(R"({"kind": "graph", "hosts": ["east", "west"],
                     "links": [{"from": "east", "to": "s", "bytes_per_second": 1}]})"),
                                   2);
  try {
    (void)way(*graph, 0, 1);
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(std::string(error.what()).find("from east to west") != std::string::npos);
  }
}

}  // namespace
