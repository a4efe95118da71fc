#pragma once

#include <cstdint>

namespace wulf::replay {

using Picoseconds = std::int64_t;
constexpr Picoseconds kPerNanosecond = 1000;
constexpr Picoseconds kPerSecond = 1'000'000'000'000;

/// A rank computes for no longer than this in all, 53 days: what it waits for may take as long again.
constexpr Picoseconds kMostCompute = 1LL << 62U;

constexpr std::uint32_t kAnyPeer = UINT32_MAX;  ///< a receive takes whoever sends; engine B alone can
constexpr std::uint64_t kAnyTag = UINT64_MAX;
constexpr std::uint32_t kNone = UINT32_MAX;  ///< no message, no operation

/// What a rank does; what `Program::arg` holds of it stands behind.
enum class OpKind : std::uint8_t {
  kCalc,      ///< compute: an index of `durations`
  kSend,      ///< post a send: a message
  kRecv,      ///< post a receive: a message
  kWaitSend,  ///< wait for a send: a message
  kWaitRecv,  ///< wait for a receive: a message
  kRecvLive,  ///< post a receive whose message is known only as the program runs: an index of `live`
  kWaitLive,  ///< wait for that receive
};

}  // namespace wulf::replay
