#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/json/error.hpp"
#include "replay/program/program.hpp"

namespace wulf::replay {

/// That a program has more operations than it has room for.
[[nodiscard]] Error too_many_operations();

/// A duration by a factor of 20 fractional bits; at most INT64_MAX.
[[nodiscard]] Picoseconds scaled(std::int64_t compute, Picoseconds duration);

/// Makes a program, operation by operation. Within a rank in its order; across ranks in any order, fastest
/// and smallest where one rank is done before the next higher one begins.
///
/// A slot is a small number of the rank's own choice that names a posted send or receive until its wait. One
/// that is never waited for stays taken.
class ProgramBuilder {
 public:
  /// `compute` scales every duration: 20 fractional bits, kUnscaled = as they are.
  explicit ProgramBuilder(std::uint32_t ranks, std::int64_t compute = kUnscaled);

  /// Makes room for so many operations, messages' posts among them; more are welcome.
  void expect(std::size_t ops, std::size_t posts);

  /// Throws `limit` where the rank's computing comes to more than kMostCompute.
  void add_calc(std::uint32_t rank, Picoseconds duration, std::uint32_t mark = 0);
  void add_send(std::uint32_t rank, std::uint32_t peer, std::uint64_t bytes, std::uint64_t tag,
                std::uint32_t slot, std::uint32_t mark = 0);
  /// `peer` may be kAnyPeer and `tag` kAnyTag. A message has the bytes of its send: those of a receive are
  /// its room, of which nothing depends.
  void add_recv(std::uint32_t rank, std::uint32_t peer, std::uint64_t bytes, std::uint64_t tag,
                std::uint32_t slot, std::uint32_t mark = 0);
  void add_wait(std::uint32_t rank, std::uint32_t slot, std::uint32_t mark = 0);

  [[nodiscard]] std::uint32_t ranks() const { return ranks_; }
  [[nodiscard]] std::size_t ops() const { return kind_.size(); }

  /// The program; the builder is empty then. Throws `unmatched`, which names the first ten sends and receives
  /// without a partner by rank and operation, and bad-parameter for a wait on a slot that is not taken or a
  /// post to one that is.
  [[nodiscard]] Program finish();

  static constexpr std::int64_t kUnscaled = 1LL << 20U;

 private:
  friend class Matching;

  /// Consecutive operations of one rank.
  struct Stretch {
    std::uint32_t rank;
    std::uint32_t begin;
  };

  void add(std::uint32_t rank, OpKind kind, std::uint32_t arg, std::uint32_t mark);
  void post(std::uint32_t rank, OpKind kind, std::uint32_t peer, std::uint64_t tag, std::uint32_t size,
            std::uint32_t slot, std::uint32_t mark);
  [[nodiscard]] std::uint32_t size_of(std::uint64_t bytes);
  void check_rank(std::uint32_t rank, const char* what) const;
  void gather();
  void number_ranks();
  void resolve_slots();
  void resolve_slots(std::uint32_t rank, std::vector<std::uint32_t>& open);

  std::uint32_t ranks_;
  std::int64_t compute_;
  std::vector<Stretch> stretches_;
  std::vector<Picoseconds> busy_;  ///< each rank's computing so far
  Array<std::uint32_t> first_;
  Array<OpKind> kind_;
  Array<std::uint32_t> arg_;  ///< a duration's index, a post's, or the slot of a wait until it is resolved
  Array<std::uint32_t> mark_;
  Array<Picoseconds> durations_;
  Array<std::uint64_t> sizes_;
  std::unordered_map<std::uint64_t, std::uint32_t> size_index_;
  std::uint64_t last_bytes_ = 0;
  std::uint32_t last_size_ = kNone;

  std::size_t sends_ = 0;
  bool wildcards_ = false;

  // sends and receives, as they were added
  Array<std::uint32_t> peer_;
  Array<std::uint64_t> tag_;
  Array<std::uint32_t> size_;
  Array<std::uint32_t> slot_;
};

}  // namespace wulf::replay
