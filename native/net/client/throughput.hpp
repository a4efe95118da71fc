#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/json/json.hpp"
#include "net/channel/lane.hpp"
#include "net/client/run.hpp"

namespace wulf::net {

/// Which lanes of streams go which way: those to the server come first.
struct Ways {
  Range out;
  Range back;

  /// `params`: streams, and direction (out, back, both).
  explicit Ways(const Json& params);
  [[nodiscard]] bool goes_out(const Lane& lane) const { return lane.index < out.last; }
};

/// What arrived over each of some lanes, by the kernel's count where it has one [B].
[[nodiscard]] std::vector<std::uint64_t> bytes_by_lane(const Lanes& lanes, const Range& range);

/// Bytes a second of each lane, between two readings that are so far apart.
[[nodiscard]] std::vector<double> rates(const std::vector<std::uint64_t>& first,
                                        const std::vector<std::uint64_t>& last, double seconds);

/// Segments sent again over some lanes; nothing where the transport has no such thing.
[[nodiscard]] std::optional<std::uint64_t> retransmits_of(const Lanes& lanes, const Range& range);

/// How datagrams arrived over some lanes.
struct Received {
  std::uint64_t messages = 0;
  std::uint64_t spanned = 0;
  std::uint64_t reordered = 0;
  std::uint64_t duplicates = 0;

  [[nodiscard]] static Received by_now(const Lanes& lanes, const Range& range) noexcept;
};

/// The client's side at one time: what was handed to the system, what came, and what TCP had to repeat.
struct Sent {
  Passed passed;
  std::vector<std::uint64_t> came;
  std::optional<std::uint64_t> retransmits;

  [[nodiscard]] static Sent by_now(const Lanes& lanes, const Ways& ways);
};

/// The client's view of the measured time.
struct Window {
  Sent first;
  Sent last;
  Json counters = Json::object();
  Json during = nullptr;
  Json finished = nullptr;  ///< the server's figures
};

/// Throughput of each way and of both, and what went with it, from either side's view of the measured time.
[[nodiscard]] Outcome throughput_of(ClientRun& run, Window window);

/// Adds loss, order and duplicates over both ways; `total` is the server's count of datagrams. What the
/// server sends is known by the numbers that came: a loss at the beginning or the end does not show.
void add_datagram_metrics(Json& metrics, ClientRun& run, const Json& total);

}  // namespace wulf::net
