#pragma once

#include <cstddef>
#include <cstdint>

#include "replay/program/program.hpp"

namespace wulf::replay {

/// Where vectors stand in memory. A compiler that is not told of the wide registers puts their types on 16 B
/// alone, and whoever is told reads them from where they would be aligned.
constexpr std::size_t kLaneAlignment = kArrayAlignment;

/// Several networks' times side by side. The vectors of GCC and Clang have all operators that engine A needs,
/// and are made of whatever the processor has.
using Lanes1 = std::int64_t;
using Lanes4 = std::int64_t __attribute__((vector_size(32)));
using Lanes8 = std::int64_t __attribute__((vector_size(64)));
/// One network, in picoseconds with 20 fractional bits: nothing is rounded, so that times are affine
/// functions of a cost per byte.
__extension__ using Fine = __int128;
constexpr unsigned kFineBits = 20;

/// How many networks a value of the type V holds.
template <typename V>
constexpr std::size_t kLanes = 1;
template <>
inline constexpr std::size_t kLanes<Lanes4> = 4;
template <>
inline constexpr std::size_t kLanes<Lanes8> = 8;

/// What a message of one class costs on each network.
template <typename V>
struct alignas(kLaneAlignment) Cost {
  V send;         ///< os + Os·n
  V latency;      ///< L: of what carries no data
  V way;          ///< of the data's first byte: L, and the packet that is stored
  V stretch;      ///< e(n)
  V gap_stretch;  ///< g + e(n)
  V receive;      ///< or + Or·n
  V rendezvous;   ///< all bits set where n > S
  bool any_rendezvous;
};

/// Where a rank stands.
template <typename V>
struct alignas(sizeof(V)) RankState {
  V clock;
  V nic;    ///< when its sender NIC is free
  V rnic;   ///< when its receiver NIC is free
  V first;  ///< of the last message in the order of arrival that the receiver NIC served
  V last;   ///< that message
};

/// Where a rank's sender NIC stands with the data of rendezvous.
template <typename V>
struct Sending {
  V free;  ///< when it has done with all that the rank waited for
  V last;  ///< the message that the rank waited for last
};

/// What one pass of engine A works on. Arrays belong to the caller; a pass keeps no memory of its own, since
/// it is compiled for several instruction sets, and nothing of the standard library may be.
template <typename V>
struct alignas(kLaneAlignment) Pass {
  alignas(sizeof(V)) V receiver_gap;  ///< all bits set where a receiver's NIC takes one message at a time
  V time;                             ///< the greatest last clock
  V inversions;

  const std::uint32_t* first;
  const OpKind* kind;
  const std::uint32_t* arg;
  const Picoseconds* durations;
  const std::uint32_t* from;
  const std::uint32_t* to;
  const std::uint32_t* classes;  ///< by message; null: all are of class 0
  const Cost<V>* costs;

  RankState<V>* state;      ///< of ranks that wait
  std::uint32_t* position;  ///< by rank: the operation at which it stands
  std::uint32_t* ready;     ///< a ring of `ranks` places: ranks that can go on
  V* sent;  ///< by message: eager, when its first byte arrives; else, when its request does. Negative before
  V* posted;  ///< by message: when its receive was posted. Negative before; null where all messages are eager
  Sending<V>* sending;  ///< by rank; null where all messages are eager
  V* ends;              ///< by rank: its last clock; null where nobody asks
  V* end;               ///< of a detailed pass alone, by operation: when it ended
  std::uint32_t ranks;
};

/// What a place of `sent` and `posted` holds before its time: nobody waits for it, or somebody does.
constexpr std::int64_t kUnknown = -1;
constexpr std::int64_t kAwaited = -2;

/// What a pass has to know beforehand, so that programs pay only for what they have.
struct PassKind {
  bool rendezvous;  ///< some message is larger than some network's eager limit
  bool detailed;    ///< times of all operations and messages are kept
};

template <typename V>
using PassFunction = void (*)(Pass<V>& pass);

/// The pass for this processor.
template <typename V>
[[nodiscard]] PassFunction<V> pass_function(PassKind kind);

}  // namespace wulf::replay
