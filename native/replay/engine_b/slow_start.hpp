#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>

#include "core/json/json.hpp"
#include "replay/program/program.hpp"

namespace wulf::replay {

/// How TCP begins to send: RFC 5681, section 3.1; docs/how-it-works/replay-contention.md says what of it is
/// modelled.
struct SlowStart {
  std::uint64_t initial = 0;                   ///< bytes: the first window
  std::uint64_t most = UINT64_MAX;             ///< bytes: the window never exceeds it
  std::optional<Picoseconds> round_trip;       ///< none: twice the latency
  std::optional<Picoseconds> restart_timeout;  ///< an idle time that halves the window; none: it stays
};

/// The settings in a network's `slow_start`. Throws bad-parameter that names the field.
[[nodiscard]] SlowStart parse_slow_start(const Json& json);

/// A connection's window.
struct Window {
  std::uint64_t bytes;
  Picoseconds used;  ///< when it last sent
};

/// The windows of all connections, one for each pair of ranks and direction.
class Windows {
 public:
  explicit Windows(const SlowStart& settings) : settings_(settings) {}

  /// The window with which a connection sends again at `now`.
  [[nodiscard]] std::uint64_t open(std::uint32_t from, std::uint32_t to, Picoseconds now);
  /// A transfer ends at `now`, with that window. Of transfers that overlap, the larger window stays.
  void keep(std::uint32_t from, std::uint32_t to, std::uint64_t bytes, Picoseconds now);
  /// The window of the round that follows one that was filled.
  [[nodiscard]] std::uint64_t grown(std::uint64_t bytes) const;

 private:
  [[nodiscard]] std::uint64_t after_idling(const Window& window, Picoseconds now) const;

  SlowStart settings_;
  std::unordered_map<std::uint64_t, Window> windows_;
};

}  // namespace wulf::replay
