#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "replay/lower/comms.hpp"
#include "replay/lower/files.hpp"

namespace wulf::replay {

/// What only the end of a request shows of its beginning.
struct Fate {
  bool happened = true;              ///< false: cancelled, or a wildcard that nothing came for
  std::int32_t source = trace::any;  ///< any: something came, the trace does not tell from whom
  std::int32_t tag = trace::any;
};

/// Bytes that a one-sided epoch moved between a rank and another one.
struct Transfer {
  std::int32_t peer;  ///< in the world
  std::uint64_t bytes;
  bool sends;
};

/// What one rank's records say of others', collected before any rank is lowered. Its size goes by wildcards,
/// cancellations, synchronous sends and pairs of one-sided epochs: of a trace without these it is nothing.
struct Survey {
  /// By rank, then by the number of the request among those that the rank began.
  std::vector<std::unordered_map<std::uint64_t, Fate>> fates;
  /// Which of the messages from one rank to another with a tag are synchronous, and their bytes; ascending.
  std::map<std::tuple<std::int32_t, std::int32_t, std::uint64_t>, std::map<std::uint64_t, std::uint64_t>>
      synchronous;
  /// By window, epoch (fences so far) and rank.
  std::map<std::tuple<std::uint32_t, std::uint64_t, std::int32_t>, std::vector<Transfer>> epochs;
  CommNames names;
  bool nonblocking_collectives = false;
  std::string mpi;
};

/// How a window is synchronised while bytes are moved.
enum class Epoch : std::uint8_t { kFence, kLocked, kStarted };

/// A rank's windows between their synchronisations.
struct WindowState {
  std::uint64_t fences = 0;
  std::int64_t locks = 0;
  bool started = false;

  [[nodiscard]] Epoch epoch() const {
    return locks > 0 ? Epoch::kLocked : started ? Epoch::kStarted : Epoch::kFence;
  }
  /// Takes what opens and closes epochs.
  void take(trace::Op op);
};

/// The tag of a message in a program: communicator and MPI's tag.
[[nodiscard]] constexpr std::uint64_t tag_of(std::uint32_t comm, std::int32_t tag) {
  return (std::uint64_t{comm} << 32U) | static_cast<std::uint32_t>(tag);
}

[[nodiscard]] bool is_synchronous(trace::Op op);
/// One-sided calls that move bytes from this rank (Put), to it (Get), or both ways.
[[nodiscard]] bool moves_out(trace::Op op);
[[nodiscard]] bool moves_in(trace::Op op);

/// Reads all ranks' files once. Errors as RankFile.
[[nodiscard]] Survey survey_trace(const std::string& folder, std::uint32_t ranks);

}  // namespace wulf::replay
