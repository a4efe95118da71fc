#pragma once

#include <cstddef>
#include <cstdint>

namespace wulf::trace {

inline constexpr char file_magic[] = {'w', 'u', 'l', 'f', 't', 'r', 'c', '\0'};
inline constexpr char chunk_magic[] = {'C', 'H', 'N', 'K'};
inline constexpr char done_magic[] = {'D', 'O', 'N', 'E'};
inline constexpr std::uint16_t file_version = 2;                      ///< that is written
inline constexpr std::uint16_t oldest_version = 1;                    ///< that is read: it has no `counts2`
inline constexpr std::size_t file_head = sizeof(file_magic) + 2 + 4;  ///< bytes before the header's text
inline constexpr std::size_t chunk_head = 16;                         ///< bytes before a chunk's payload
inline constexpr std::size_t chunk_most = std::size_t{1} << 20U;      ///< of a chunk's head and payload

inline constexpr std::int32_t any = -1;        ///< MPI_ANY_SOURCE, MPI_ANY_TAG
inline constexpr std::int32_t nobody = -2;     ///< MPI_PROC_NULL
inline constexpr std::int32_t elsewhere = -3;  ///< a process that is not in MPI_COMM_WORLD
inline constexpr std::int32_t none = -1;       ///< no communicator, window, request

inline constexpr std::int32_t world = 0;  ///< number of MPI_COMM_WORLD
inline constexpr std::int32_t self = 1;   ///< number of MPI_COMM_SELF

/// Flags of a completion.
inline constexpr std::uint64_t told_source = 1;
inline constexpr std::uint64_t told_bytes = 2;
inline constexpr std::uint64_t was_cancelled = 4;
inline constexpr unsigned completion_flags = 3;  ///< bits of them

/// Why recording ended.
enum class Ended : std::uint64_t { finalize, abort, exit, signal, unwritable };

/// What "DONE" says, in the file's order; docs/reference/trace-format.md.
struct Totals {
  std::uint64_t records = 0;
  std::uint64_t calls = 0;
  std::uint64_t failed_tests = 0;
  std::uint64_t end_ns = 0;
  std::uint64_t end_monotonic_ns = 0;
  std::uint64_t ended = 0;
  std::uint64_t detail = 0;
  std::uint64_t lost_calls = 0;
  std::uint64_t failed_calls = 0;
  std::uint64_t unknown_requests = 0;
  std::uint64_t bytes = 0;
  std::uint64_t spare = 0;
};
static_assert(sizeof(Totals) == 96);

/// What follows a record's first byte; docs/reference/trace-format.md says how each is written.
enum class Field : std::uint8_t {
  end,
  times,
  peer,
  peer2,
  root,
  tag,
  tag2,
  comm,
  window,
  newcomm,
  newwin,
  bytes,
  bytes2,
  actual,
  request,
  requests,
  completion,
  given,
  completions,
  counts,
  counts2,
  members,
  members2,
  count,
  between,
  number,
  thread,
  site,
  text,
};

inline constexpr std::size_t most_fields = 10;

/// An operation: its name ("MPI_Send", or a note's), and the fields of its records. No name: there is no such
/// one.
struct Shape {
  const char* name = nullptr;
  Field fields[most_fields] = {};
};

}  // namespace wulf::trace
