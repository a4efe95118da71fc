#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "trace/format/record.hpp"

namespace wulf::replay {

/// A communicator (or window) as one rank knows it; its members are in the order of its own ranks.
struct Comm {
  std::uint32_t id = 0;  ///< the same on all its ranks
  std::int32_t me = -1;  ///< this rank's number in it
  /// An intercommunicator, or one with processes outside of MPI_COMM_WORLD: of its collectives nothing is
  /// modelled.
  bool inter = false;
  std::vector<std::int32_t> members;  ///< ranks of MPI_COMM_WORLD
  std::vector<std::int32_t> sources;  ///< of neighbourhood collectives, as ranks of it; -1: nobody
  std::vector<std::int32_t> destinations;
  std::uint64_t collectives = 0;                                 ///< how many have begun on it
  std::unordered_map<std::int32_t, std::int32_t> rank_of_world;  ///< made when it is first asked

  [[nodiscard]] int size() const { return static_cast<int>(members.size()); }
  /// `me` of a member. Throws `trace` where this rank is none.
  [[nodiscard]] std::int32_t own_rank() const;
  /// The number of a rank of MPI_COMM_WORLD; -1: it is no member.
  [[nodiscard]] std::int32_t rank_of(std::int32_t world);
};

/// Gives what ranks number each by themselves one number for all: the same parent and the same members, and
/// the k-th of these, are one communicator (docs/reference/trace-format.md).
class CommNames {
 public:
  /// Parent's id, and two checksums of the members: of 128 bits together, so that no two lists meet.
  using Kind = std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>;

  [[nodiscard]] std::uint32_t id_of(const Kind& kind, std::uint32_t occurrence);

 private:
  std::map<std::pair<Kind, std::uint32_t>, std::uint32_t> ids_;
};

/// The communicators and windows of one rank, in the order of its records.
class Comms {
 public:
  /// By the number that the tracer gave: a torn record may name any, so that none costs more than another.
  using Numbered = std::unordered_map<std::int32_t, Comm>;

  Comms(std::uint32_t rank, std::uint32_t ranks, CommNames& names);

  /// Takes a creation (or `neighbours`, or `found_comm`); others are nothing to it.
  void take(const trace::Record& record);

  /// Throws `trace` where no record has made it.
  [[nodiscard]] Comm& at(std::int32_t number);
  /// A window's ranks, numbers and all.
  [[nodiscard]] Comm& window(std::int32_t number);

 private:
  void add(const trace::Record& record);
  void add_window(const trace::Record& record);
  void set_neighbours(const trace::Record& record);
  [[nodiscard]] std::uint32_t id_of(const CommNames::Kind& kind);

  std::int32_t rank_;
  std::uint64_t kept_ = 0;  ///< members of all communicators so far
  CommNames& names_;
  Numbered comms_;
  Numbered windows_;
  std::map<CommNames::Kind, std::uint32_t> seen_;
};

}  // namespace wulf::replay
