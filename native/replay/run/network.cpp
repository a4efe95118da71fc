#include "replay/run/network.hpp"

#include <array>
#include <utility>

#include "core/json/error.hpp"
#include "core/json/params.hpp"

namespace wulf::replay {
namespace {

constexpr std::int64_t kLongestTime = 1'000'000'000'000'000;  // 1000 s a message: beyond any network
constexpr std::int64_t kMostPerByte = 1LL << 50U;             // 1 ms a byte
constexpr std::int64_t kLargestPacket = 1LL << 20U;

struct Field {
  const char* name;
  std::int64_t LinkClass::*place;
  std::int64_t most;
  bool optional;
};

constexpr std::array kFields{
    Field{"latency_ps", &LinkClass::latency, kLongestTime, false},
    Field{"send_ps", &LinkClass::send, kLongestTime, false},
    Field{"receive_ps", &LinkClass::receive, kLongestTime, false},
    Field{"gap_ps", &LinkClass::gap, kLongestTime, false},
    Field{"byte_fp", &LinkClass::byte_fp, kMostPerByte, false},
    Field{"send_byte_fp", &LinkClass::send_byte_fp, kMostPerByte, true},
    Field{"receive_byte_fp", &LinkClass::receive_byte_fp, kMostPerByte, true},
    Field{"packet_byte_fp", &LinkClass::packet_byte_fp, kMostPerByte, true},
    Field{"packet_bytes", &LinkClass::packet_bytes, kLargestPacket, true},
};

bool given(const Json& json, const char* name) { return json.contains(name) && !json.at(name).is_null(); }

LinkClass parse_class(const Json& json, const std::string& name) {
  if (!json.is_object()) {
    throw bad_parameter(name,
                        name + " is " + json.dump() + R"(, but must be an object such as {"latency_ps": …})");
  }
  LinkClass parsed;
  std::vector<std::string> known{"eager_bytes", "eager_byte_fp"};
  for (const Field& field : kFields) {
    known.emplace_back(field.name);
    if (!field.optional || json.contains(field.name)) {
      parsed.*field.place = int_field(json, field.name, 0, field.most);
    }
  }
  refuse_unknown_fields(json, known);
  if (given(json, "eager_bytes")) {
    parsed.eager_bytes = static_cast<std::uint64_t>(int_field(json, "eager_bytes", 0, INT64_MAX));
  }
  if (given(json, "eager_byte_fp")) {
    parsed.eager_more_fp = int_field(json, "eager_byte_fp", 0, kMostPerByte) - parsed.byte_fp;
  }
  return parsed;
}

/// A list of each rank's host, or how many ranks in a row share one: a million ranks would not fit into a
/// line.
std::vector<std::uint32_t> parse_hosts(const Json& json, std::uint32_t ranks) {
  if (json.is_integer() && json.get<std::int64_t>() > 0) {
    const auto together = json.get<std::uint64_t>();
    std::vector<std::uint32_t> hosts(ranks);
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      hosts[rank] = static_cast<std::uint32_t>(rank / together);
    }
    return hosts;
  }
  if (!json.is_array() || json.size() != ranks) {
    throw bad_parameter(
        "hosts",
        "hosts must be the number of ranks a host, or a list of one number a rank: the program "
        "has " +
            std::to_string(ranks) + " ranks, hosts " + std::to_string(json.size()));
  }
  std::vector<std::uint32_t> hosts;
  hosts.reserve(ranks);
  for (const Json& host : json) {
    if (!host.is_integer() || host.get<std::int64_t>() < 0 || host.get<std::int64_t>() >= kNone) {
      throw bad_parameter("hosts",
                          "hosts has " + host.dump() + ", but must hold the number of each rank's host");
    }
    hosts.push_back(host.get<std::uint32_t>());
  }
  return hosts;
}

}  // namespace

Network parse_network(const Json& json, std::uint32_t ranks) {
  if (!json.is_object()) {
    throw bad_parameter("network",
                        "a network is " + json.dump() + R"(, but must be an object: {"inter": {…}})");
  }
  refuse_unknown_fields(json, {"name", "inter", "intra", "hosts", "receiver_gap", "topology", "slow_start",
                               "shared_nic", "progress", "in_order"});
  if (!given(json, "inter")) {
    throw bad_parameter("inter", "a network needs 'inter', its parameters between hosts");
  }
  Network network;
  network.name = given(json, "name") ? text_field(json, "name") : "";
  network.inter = parse_class(json.at("inter"), "inter");
  network.own_intra = given(json, "intra");
  network.intra = network.own_intra ? parse_class(json.at("intra"), "intra") : network.inter;
  if (given(json, "hosts")) {
    network.hosts = parse_hosts(json.at("hosts"), ranks);
  }
  network.receiver_gap = flag_field(json, "receiver_gap", true);
  network.shared_nic = flag_field(json, "shared_nic", false);
  network.progress = flag_field(json, "progress", true);
  network.in_order = flag_field(json, "in_order", false);
  network.topology = json.value("topology", Json());
  network.slow_start = json.value("slow_start", Json());
  return network;
}

Network network_field(const Json& request, std::uint32_t ranks) {
  const Json* found = request.find("network");
  if (found == nullptr) {
    throw bad_parameter("network", "'network' is missing: give an object");
  }
  return parse_network(*found, ranks);
}

std::vector<Network> parse_networks(const Json& request, std::uint32_t ranks) {
  const Json* found = request.find("networks");
  if (found == nullptr || !found->is_array() || found->empty()) {
    throw bad_parameter("networks", "'networks' must be a list of one network or more");
  }
  std::vector<Network> networks;
  networks.reserve(found->size());
  for (const Json& each : *found) {
    networks.push_back(parse_network(each, ranks));
  }
  return networks;
}

}  // namespace wulf::replay
