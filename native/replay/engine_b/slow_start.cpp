#include "replay/engine_b/slow_start.hpp"

#include <algorithm>

#include "core/json/error.hpp"
#include "core/json/params.hpp"

namespace wulf::replay {
namespace {

constexpr std::int64_t kInitialSegments = 10;  // RFC 6928; Linux's TCP_INIT_CWND since 2.6.39
constexpr std::int64_t kSegmentBytes =
    1448;  // 1500 B of Ethernet, IPv4 and TCP headers with timestamps taken off
constexpr std::int64_t kLargestWindow = 1LL << 40U;
constexpr std::int64_t kMostPicoseconds = 3'600'000'000'000'000;  // an hour

std::uint64_t key_of(std::uint32_t from, std::uint32_t to) {
  return static_cast<std::uint64_t>(from) << 32U | to;
}

const std::vector<Param>& params() {
  static const std::vector<Param> all{
      {"initial_segments", ParamType::kInt, "1", kInitialSegments, 1, 1 << 20U,
       "segments of the first window"},
      {"mss", ParamType::kInt, "B", kSegmentBytes, 1, kLargestWindow, "bytes of a segment"},
      {"max_window", ParamType::kInt, "B", nullptr, 1, kLargestWindow, "the largest window; null = no limit"},
      {"rtt_ps", ParamType::kInt, "ps", nullptr, 1, kMostPicoseconds, "round trip; null = twice the latency"},
      {"idle_restart_ps", ParamType::kInt, "ps", nullptr, 1, kMostPicoseconds,
       "retransmission timeout, each of which halves the window of a connection that idles; null = it "
       "stays"}};
  return all;
}

}  // namespace

SlowStart parse_slow_start(const Json& json) {
  if (!json.is_object()) {
    throw bad_parameter("slow_start", "slow_start must be an object, {} for all its defaults");
  }
  const Json values = resolve(params(), json);
  SlowStart settings;
  settings.most = optional_value<std::uint64_t>(values, "max_window").value_or(UINT64_MAX);
  settings.initial =
      std::min(values.at("initial_segments").get<std::uint64_t>() * values.at("mss").get<std::uint64_t>(),
               settings.most);
  settings.round_trip = optional_value<Picoseconds>(values, "rtt_ps");
  settings.restart_timeout = optional_value<Picoseconds>(values, "idle_restart_ps");
  return settings;
}

/// As Linux's tcp_cwnd_restart does it (RFC 2861): half for every timeout that has passed, but never below
/// the first window.
std::uint64_t Windows::after_idling(const Window& window, Picoseconds now) const {
  std::uint64_t bytes = window.bytes;
  if (!settings_.restart_timeout) {
    return bytes;
  }
  Picoseconds idle = now - window.used - *settings_.restart_timeout;
  while (idle > 0 && bytes > settings_.initial) {
    bytes /= 2;
    idle -= *settings_.restart_timeout;
  }
  return std::max(bytes, settings_.initial);
}

std::uint64_t Windows::open(std::uint32_t from, std::uint32_t to, Picoseconds now) {
  const auto [place, first] = windows_.try_emplace(key_of(from, to), Window{settings_.initial, now});
  Window& window = place->second;
  window = {after_idling(window, now), std::max(window.used, now)};
  return window.bytes;
}

void Windows::keep(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Picoseconds now) {
  Window& window = windows_.at(key_of(from, to));
  window = {std::max(window.bytes, bytes), now};
}

std::uint64_t Windows::grown(std::uint64_t bytes) const {
  return bytes > settings_.most / 2 ? settings_.most : bytes * 2;
}

}  // namespace wulf::replay
