#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "trace/format/ops.hpp"

namespace wulf::trace {

/// Of a run, and entries of a list of one for each rank: what says more is damaged, and would take all
/// memory.
constexpr std::uint64_t most_ranks = std::uint64_t{1} << 22U;

/// Processes outside of MPI_COMM_WORLD that a group may have: spawned ones, those behind ports.
constexpr std::uint64_t most_outside = 65536;

/// A request that has completed.
struct Completion {
  std::int32_t request = none;  ///< none: null, inactive, or made by a call that is not recorded
  bool wildcard = false;        ///< whether source and tag are told
  std::int32_t source = any;
  std::int32_t tag = any;
  bool shorter = false;  ///< whether bytes are told: fewer than were posted
  std::uint64_t bytes = 0;
  bool cancelled = false;

  bool operator==(const Completion&) const = default;
};

/// What a record has of single numbers.
struct Numbers {
  Op op = Op::Send;
  std::uint32_t thread = 0;
  std::uint32_t site = 0;  ///< 0: not told
  std::uint64_t gap_ns = 0;
  std::uint64_t call_ns = 0;
  std::int32_t peer = any;
  std::int32_t tag = any;
  std::int32_t peer2 = any;
  std::int32_t tag2 = any;
  std::int32_t source = any;      ///< of a receive or probe: who it came from, also where that was given
  std::int32_t source_tag = any;  ///< and its tag
  std::int32_t root = any;
  std::int32_t comm = none;
  std::int32_t newcomm = none;
  std::int32_t window = none;
  std::int32_t newwin = none;
  std::int32_t request = none;
  std::uint64_t bytes = 0;
  std::uint64_t bytes2 = 0;
  std::uint64_t given = 0;
  std::uint64_t count = 0;
  std::uint64_t between_ns = 0;
  std::int64_t number = 0;

  bool operator==(const Numbers&) const = default;
};

/// A record of a trace, decoded. Which of its parts mean something is said by its operation's fields
/// (`shape_of`); docs/reference/trace-format.md says what. Ranks are those of MPI_COMM_WORLD, times
/// nanoseconds.
struct Record : Numbers {
  std::vector<std::int32_t> requests;
  std::vector<Completion> completions;  ///< of one that completes a single request, one
  std::vector<std::uint64_t> counts;
  std::vector<std::uint64_t> counts2;  ///< of an exchange: what is got; empty: not told
  std::vector<std::int32_t> members;
  std::vector<std::int32_t> members2;
  std::string text;

  bool operator==(const Record&) const = default;

  /// As a new one, but its lists keep their memory.
  void clear();
};

/// How many entries a record's lists may have. Nine bytes name four million, so that they are held against
/// the ranks that there are, and counts against the groups that the file has named: a megabyte of them would
/// take minutes.
class Limits {
 public:
  Limits() = default;
  explicit Limits(std::uint64_t ranks) : _members(ranks + most_outside), _counts(ranks) {}

  [[nodiscard]] std::uint64_t members() const { return _members; }
  [[nodiscard]] std::uint64_t counts() const { return _counts; }

  /// From here on there may be as many counts as this record's groups have members.
  void take(const Record& record) {
    _counts = std::max<std::uint64_t>({_counts, record.members.size(), record.members2.size()});
  }

 private:
  std::uint64_t _members = most_ranks;
  std::uint64_t _counts = most_ranks;
};

/// Whether an operation's records have this field.
bool has(Op op, Field field);

/// Whom a receive was posted for, and with which tag; of an exchange that is its second half.
struct Wanted {
  std::int32_t peer;
  std::int32_t tag;
};
inline Wanted wanted(const Record& record) {
  return has(record.op, Field::peer2) ? Wanted{record.peer2, record.tag2} : Wanted{record.peer, record.tag};
}

/// Whether its completion tells who a receive took its message from. MPI_PROC_NULL's takes none.
inline bool is_wildcard(const Wanted& posted) {
  return posted.peer == any || (posted.tag == any && posted.peer != nobody);
}

}  // namespace wulf::trace
