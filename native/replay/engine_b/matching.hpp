#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <unordered_map>
#include <vector>

#include "replay/program/program.hpp"

namespace wulf::replay {

/// From here on tags are those of what MPI itself sends (collectives, one-sided epochs), which no wildcard
/// takes; below, a communicator's number stands above the 32 bits of MPI's tag.
constexpr std::uint64_t kFirstOwnTag = 1ULL << 61U;

/// Where a message comes from, and its tag; or what a receive takes: kAnyPeer, kAnyTag.
struct Envelope {
  std::uint32_t peer;
  std::uint64_t tag;
  friend bool operator==(const Envelope&, const Envelope&) = default;
};

struct EnvelopeHash {
  [[nodiscard]] std::size_t operator()(const Envelope& envelope) const noexcept {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio: Knuth's multiplicative hashing
    const std::uint64_t mixed = (envelope.tag * kOdd) ^ envelope.peer;
    return (mixed * kOdd) ^ (mixed >> 32U);
  }
};

/// One rank's receives and messages, as MPI matches them (MPI 4.1, section 3.5): a message takes the oldest
/// receive that fits, a receive the oldest message. Whoever calls does so in the order of time.
///
/// Receives stand in queues by what they take, with the number of their post: a message looks at the heads of
/// the four queues that may hold its receive. Unexpected messages stand in four queues too, one for each way
/// to ask for them; those taken through another queue are dropped when they come up.
class LiveMatching {
 public:
  /// A message has arrived: the receive that it takes, if there is one yet.
  [[nodiscard]] std::optional<std::uint32_t> arrive(const Envelope& envelope, std::uint32_t message);
  /// A receive is posted: the message that it takes, if one is there.
  [[nodiscard]] std::optional<std::uint32_t> post(const Envelope& wanted, std::uint32_t receive);

 private:
  struct Posted {
    std::uint64_t stamp;
    std::uint32_t receive;
  };
  struct Unexpected {
    std::uint32_t message;
    bool taken;
  };
  using Places = std::deque<std::size_t>;

  std::unordered_map<Envelope, std::deque<Posted>, EnvelopeHash> posted_;
  std::unordered_map<Envelope, Places, EnvelopeHash> waiting_;
  std::vector<Unexpected> unexpected_;
  std::uint64_t stamps_ = 0;
};

}  // namespace wulf::replay
