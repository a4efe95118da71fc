#include "core/host/counters.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <sstream>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/host/proc_text.hpp"

namespace wulf {
namespace {

struct Source {
  std::string_view path;
  std::string_view key;  ///< where its figures go; empty: top level
  Json (*parse)(const std::string&);
  std::size_t header = 0;  ///< lines before those with figures
  std::size_t unit = 1;    ///< lines that belong together
};

Json parse_stat_here(const std::string& text) { return proc_text::parse_stat(text, sysconf(_SC_CLK_TCK)); }

constexpr std::array<Source, 8> kSources{{
    {"/proc/stat", "", parse_stat_here},
    {"/proc/interrupts", "interrupts", proc_text::parse_interrupts, 1},
    {"/proc/softirqs", "softirqs", proc_text::parse_interrupts, 1},
    // an old kernel's line has its CPU by its number: all of them are the unit
    {"/proc/net/softnet_stat", "softnet", proc_text::parse_softnet, 0,
     std::numeric_limits<std::size_t>::max()},
    {"/proc/net/snmp", "snmp", proc_text::parse_protocols, 0, 2},
    {"/proc/net/snmp6", "snmp6", proc_text::parse_names},
    {"/proc/net/netstat", "netstat", proc_text::parse_protocols, 0, 2},
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

/// The lines of both texts that differ, with the headers: what is the same changed by nothing. Both as they
/// are where they have other lines each.
std::pair<std::string, std::string> changed(std::string_view before, std::string_view after,
                                            const Source& source) {
  const auto lines_in = [](std::string_view text) { return std::ranges::count(text, '\n'); };
  const auto take = [](std::string_view& text, std::size_t lines) {
    std::size_t end = 0;
    for (; lines > 0 && end < text.size(); --lines) {
      end = std::min(text.find('\n', end), text.size() - 1) + 1;
    }
    const std::string_view taken = text.substr(0, end);
    text.remove_prefix(end);
    return taken;
  };
  if (lines_in(before) != lines_in(after)) {
    return {std::string(before), std::string(after)};
  }
  std::pair<std::string, std::string> both{take(before, source.header), take(after, source.header)};
  while (!before.empty()) {
    const std::string_view earlier = take(before, source.unit);
    const std::string_view later = take(after, source.unit);
    if (earlier != later) {
      both.first += earlier;
      both.second += later;
    }
  }
  both.second += after;
  return both;
}

/// The member, or null. Where it is looked for first is where it stood in another snapshot: to look for each
/// of a thousand counters among all of them would take longer than to parse them.
const Json& member_of(const Json& object, const std::string& name, std::size_t place) {
  static const Json kNothing = nullptr;
  if (object.is_object() && place < object.size() && object.members()[place].name == name) {
    return object.members()[place].value;
  }
  const Json* found = object.find(name);
  return found == nullptr ? kNothing : *found;
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

Json CounterTexts::delta(const CounterTexts& later) const {
  CounterTexts before = *this;
  CounterTexts after = later;
  for (const Source& source : kSources) {
    const auto earlier = before.texts_.find(source.path);
    const auto now = after.texts_.find(source.path);
    if (earlier != before.texts_.end() && now != after.texts_.end()) {
      std::tie(earlier->second, now->second) = changed(earlier->second, now->second, source);
    }
  }
  return counters_delta(before.parse(), after.parse());
}

Json counters_delta(const Json& before, const Json& after) {
  Json delta = Json::object();
  std::size_t place = 0;
  for (const auto& [name, later] : after.members()) {
    const Json& earlier = member_of(before, name, place++);
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
