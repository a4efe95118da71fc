#include "core/counters.hpp"

#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>

#include "core/proc_text.hpp"

namespace wulf {
namespace {

struct Source {
  std::string_view path;
  std::string_view key;  ///< where its figures go; empty: top level
  Json (*parse)(const std::string&);
};

Json parse_stat_here(const std::string& text) { return proc_text::parse_stat(text, sysconf(_SC_CLK_TCK)); }

constexpr std::array<Source, 8> kSources{{
    {"/proc/stat", "", parse_stat_here},
    {"/proc/interrupts", "interrupts", proc_text::parse_interrupts},
    {"/proc/softirqs", "softirqs", proc_text::parse_interrupts},
    {"/proc/net/softnet_stat", "softnet", proc_text::parse_softnet},
    {"/proc/net/snmp", "snmp", proc_text::parse_protocols},
    {"/proc/net/snmp6", "snmp6", proc_text::parse_names},
    {"/proc/net/netstat", "netstat", proc_text::parse_protocols},
    {"/proc/net/dev", "nic", proc_text::parse_interfaces},
}};

/// A counter's 64 bits, whatever its sign.
std::uint64_t bits_of(const Json& count) {
  return count.is_unsigned() ? count.get<std::uint64_t>()
                             : static_cast<std::uint64_t>(count.get<std::int64_t>());
}

Json difference(const Json& before, const Json& after) {
  if (after.is_integer()) {
    // Unsigned, since counters wrap: the difference of any two is defined then.
    const std::uint64_t earlier = before.is_integer() ? bits_of(before) : 0;
    return static_cast<std::int64_t>(bits_of(after) - earlier);
  }
  // Clock ticks as seconds: to the microsecond, so that 0.01 does not become 0.00999999.
  constexpr double kMicro = 1e6;
  return std::round((after.get<double>() - (before.is_number() ? before.get<double>() : 0)) * kMicro) /
         kMicro;
}

}  // namespace

CounterTexts CounterTexts::read(const std::string& root) {
  CounterTexts counters;
  for (const Source& source : kSources) {
    const std::ifstream file(root + std::string(source.path));
    std::ostringstream text;
    if (file && text << file.rdbuf()) {
      counters.texts_.emplace(source.path, text.str());
    }
  }
  return counters;
}

Json CounterTexts::parse() const {
  Json json = Json::object();
  Json missing = Json::array();
  for (const Source& source : kSources) {
    const auto found = texts_.find(source.path);
    if (found == texts_.end()) {
      missing.push_back(source.path);
    } else if (source.key.empty()) {
      json.update(source.parse(found->second));
    } else {
      json[std::string(source.key)] = source.parse(found->second);
    }
  }
  if (!missing.empty()) {
    json["missing"] = missing;
  }
  return json;
}

Json counters_delta(const Json& before, const Json& after) {
  Json delta = Json::object();
  static const Json kNothing = nullptr;
  for (const auto& [name, later] : after.members()) {
    const Json* found = before.find(name);
    const Json& earlier = found == nullptr ? kNothing : *found;
    Json change;
    if (later.is_object()) {
      change = counters_delta(earlier, later);
    } else if (later.is_number()) {
      change = difference(earlier, later);
    } else {
      change = later;
    }
    const bool unchanged = (change.is_number() && change == 0) || (change.is_object() && change.empty());
    if (!unchanged) {
      delta[name] = std::move(change);
    }
  }
  return delta;
}

}  // namespace wulf
