#include "replay/topology/topology.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>
#include <random>

#include "core/json/error.hpp"
#include "core/json/params.hpp"
#include "replay/topology/parts.hpp"

namespace wulf::replay {
namespace {

constexpr double kMostBytesPerSecond = 1e14;
constexpr std::uintmax_t kLargestFile = 64UL << 20;

using Maker = std::unique_ptr<Topology> (*)(const Json&, std::uint32_t);

const std::map<std::string, Maker>& makers() {
  static const std::map<std::string, Maker> all{{"star", star_of},
                                                {"fat-tree", fat_tree_of},
                                                {"torus", torus_of},
                                                {"dragonfly", dragonfly_of},
                                                {"graph", graph_of}};
  return all;
}

/// The description in a file, for those that are too long for a request.
Json read_description(const std::string& path) {
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown) && (!std::filesystem::is_regular_file(path, unknown) ||
                                                 std::filesystem::file_size(path, unknown) > kLargestFile)) {
    throw bad_parameter("topology.path", "The topology's file " + path +  // a pipe would be waited for
                                             " is no regular file of 64 MiB at most");
  }
  std::ifstream file(path);
  if (!file) {
    throw bad_parameter("topology.path", "The topology's file " + path +
                                             " can't be read: name one that exists "
                                             "on the host where wulf-replay runs");
  }
  Json json = parse_json(std::string(std::istreambuf_iterator<char>(file), {})).value_or(nullptr);
  if (!json.is_object()) {
    throw bad_parameter("topology.path", "The topology's file " + path + " holds no JSON object");
  }
  if (json.value("kind", Json()) == "file") {
    throw bad_parameter("topology.path",
                        "The topology's file " + path + " refers to another file: one is enough");
  }
  return json;
}

Maker maker_of(const std::string& kind) {
  const auto found = makers().find(kind);
  if (found != makers().end()) {
    return found->second;
  }
  std::string known = "file";
  for (const auto& [name, maker] : makers()) {
    known += ", " + name;
  }
  throw bad_parameter("topology.kind", "There is no topology " + kind + "; known are " + known);
}

/// Host h's place where hosts stand at random, the same everywhere: as Fisher and Yates shuffle.
std::vector<std::uint32_t> shuffled(std::uint64_t seed, std::uint32_t places) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> at(places);
  std::iota(at.begin(), at.end(), 0U);
  for (std::uint32_t left = places; left > 1; --left) {
    std::swap(at[left - 1], at[random() % left]);
  }
  return at;
}

/// Where hosts stand so many places apart: after the last place, at the first that are free.
std::vector<std::uint32_t> spread(std::uint32_t apart, std::uint32_t places) {
  std::vector<std::uint32_t> at;
  at.reserve(places);
  for (std::uint32_t first = 0; first < std::min(apart, places); ++first) {
    for (std::uint64_t place = first; place < places; place += apart) {
      at.push_back(static_cast<std::uint32_t>(place));
    }
  }
  return at;
}

/// Host h's place, from the field `positions`: a list, or a rule.
std::vector<std::uint32_t> positions_of(const Json& list, std::uint32_t hosts, std::uint32_t places) {
  if (list.is_object() && list.size() == 1 && places >= hosts) {
    if (list.contains("random")) {
      return shuffled(static_cast<std::uint64_t>(int_field(list, "random", 0, INT64_MAX)), places);
    }
    if (list.contains("every")) {
      return spread(whole_of(list.at("every"), "topology.positions.every", 1, places), places);
    }
  }
  if (!list.is_array() || list.size() < hosts) {
    throw bad_parameter("topology.positions",
                        "topology.positions must be a list with a place for each of " +
                            std::to_string(hosts) + R"( hosts, {"random": SEED}, or {"every": PLACES})" +
                            (places < hosts ? ", and there are " + std::to_string(places) + " places" : ""));
  }
  std::vector<std::uint32_t> at;
  at.reserve(list.size());
  for (const Json& value : list) {
    at.push_back(whole_of(value, "topology.positions", 0, places - 1));
  }
  return at;
}

}  // namespace

LinkId Topology::add_link(std::uint64_t bytes_per_second) { return add_links(1, bytes_per_second); }

LinkId Topology::add_links(std::uint64_t count, std::uint64_t bytes_per_second) {
  if (count > kMostLinks - rates_.size()) {
    throw bad_parameter("topology", "The topology has more than " + std::to_string(kMostLinks) +
                                        " links: describe fewer hosts");
  }
  const auto first = static_cast<LinkId>(rates_.size());
  rates_.insert(rates_.end(), count, bytes_per_second);
  return first;
}

std::uint64_t rate_of(const Json& value, const std::string& field) {
  const double rate = value.is_number() ? value.get<double>() : 0;
  const bool fits = rate >= 1 && rate <= kMostBytesPerSecond;
  if (!fits) {
    throw bad_parameter("topology." + field, "topology." + field + " is " + value.dump() +
                                                 ", but must be a number from 1 to 1e14 bytes a second");
  }
  return static_cast<std::uint64_t>(std::llround(rate));
}

std::uint64_t rate_field(const Json& json, const std::string& name) {
  return rate_of(json.value(name, Json()), name);
}

std::uint32_t whole_of(const Json& value, const std::string& field, std::uint32_t min, std::uint32_t max) {
  if (!value.is_unsigned() || value.get<std::uint64_t>() < min || value.get<std::uint64_t>() > max) {
    throw bad_parameter(field, field + " has " + value.dump() + ", but each must be an integer from " +
                                   std::to_string(min) + " to " + std::to_string(max));
  }
  return value.get<std::uint32_t>();
}

const Json& list_field(const Json& json, const std::string& name) {
  const Json* found = json.find(name);
  if (found == nullptr || !found->is_array() || found->empty()) {
    throw bad_parameter("topology." + name, "topology." + name + " must be a list with at least one element");
  }
  return *found;
}

Json describe_topology(const Json& json) {
  if (!json.is_object()) {
    throw bad_parameter("topology", "topology must be an object with a field kind");
  }
  if (text_field(json, "kind") != "file") {
    return json;
  }
  refuse_unknown_fields(json, {"kind", "path"});
  return read_description(text_field(json, "path"));
}

std::unique_ptr<Topology> make_topology(const Json& json, std::uint32_t hosts) {
  Json part = describe_topology(json);
  const std::string kind = text_field(part, "kind");
  const Json positions = part.value("positions", Json());
  part.erase("positions");
  part.erase("flow_bytes");  // the engine's, and the next
  part.erase("shared_nic");
  const auto places_wanted = positions.is_array() ? 1U : hosts;
  auto topology = maker_of(kind)(part, places_wanted);
  if (!positions.is_null()) {
    topology->put(positions_of(positions, hosts, topology->places()));
  } else if (topology->places() < hosts) {
    throw bad_parameter("topology", "The topology has places for " + std::to_string(topology->places()) +
                                        " hosts, but the program runs on " + std::to_string(hosts) +
                                        ": describe a larger one");
  }
  return topology;
}

}  // namespace wulf::replay
