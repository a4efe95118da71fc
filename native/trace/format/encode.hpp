#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "trace/format/fields.hpp"

// The fields' encodings, one function each: it writes at a place that has room, and answers the place after.
// libwulf-trace uses them within an application's calls: nothing here allocates, throws or calls a library.

namespace wulf::trace {

inline constexpr std::size_t varint_most = 10;  ///< bytes of the longest one

inline std::uint8_t* put_varint(std::uint8_t* at, std::uint64_t value) noexcept {
  while (value >= 0x80U) {
    *at++ = static_cast<std::uint8_t>(value | 0x80U);
    value >>= 7U;
  }
  *at++ = static_cast<std::uint8_t>(value);
  return at;
}

inline std::uint64_t zigzag(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U);
}

/// A rank of MPI_COMM_WORLD, or any, nobody, elsewhere.
inline std::uint8_t* put_peer(std::uint8_t* at, std::int32_t rank) noexcept {
  return put_varint(at, static_cast<std::uint64_t>(static_cast<std::int64_t>(rank) - elsewhere));
}

/// A tag or any; a number of which none is -1: a request, a new communicator.
inline std::uint8_t* put_tag(std::uint8_t* at, std::int32_t tag) noexcept {
  return put_varint(at, static_cast<std::uint64_t>(static_cast<std::int64_t>(tag) + 1));
}

inline std::uint8_t* put_times(std::uint8_t* at, std::uint64_t gap_ns, std::uint64_t call_ns) noexcept {
  return put_varint(put_varint(at, gap_ns), call_ns);
}

/// Source, tag and bytes are written where the flags say so.
inline std::uint8_t* put_completion(std::uint8_t* at, std::int32_t request, std::uint64_t flags,
                                    std::int32_t source, std::int32_t tag, std::uint64_t bytes) noexcept {
  at = put_varint(at, (static_cast<std::uint64_t>(request + 1) << completion_flags) | flags);
  if ((flags & told_source) != 0) {
    at = put_tag(put_peer(at, source), tag);
  }
  return (flags & told_bytes) != 0 ? put_varint(at, bytes) : at;
}

inline constexpr std::size_t completion_most = (3 * varint_most) + 5;

/// Values as runs of the same one; `value_of(i)` is asked in order. Room: (count + 1) varints.
template <typename ValueOf>
std::uint8_t* put_runs(std::uint8_t* at, std::size_t count, ValueOf value_of) noexcept {
  for (std::size_t i = 0; i < count;) {
    const std::uint64_t value = value_of(i);
    std::size_t run = 1;
    while (i + run < count && value_of(i + run) == value) {
      run++;
    }
    at = put_varint(at, (value << 1U) | (run > 1 ? 1U : 0U));
    at = run > 1 ? put_varint(at, run) : at;
    i += run;
  }
  return at;
}

/// Bytes for each rank. Room: (count + 2) varints.
template <typename ValueOf>
std::uint8_t* put_counts(std::uint8_t* at, std::size_t count, ValueOf value_of) noexcept {
  return put_runs(put_varint(at, count), count, value_of);
}

/// The counts that stand behind others, which may be the same. Room: (count + 2) varints.
template <typename ValueOf>
std::uint8_t* put_counts2(std::uint8_t* at, bool same, std::size_t count, ValueOf value_of) noexcept {
  return same ? put_varint(at, 0) : put_runs(put_varint(at, count + 1), count, value_of);
}

/// How many of the ranks from `begin` make one run: equal steps.
inline std::size_t members_run(const std::int32_t* ranks, std::size_t begin, std::size_t count) noexcept {
  std::size_t run = begin + 1 < count ? 2 : 1;
  while (begin + run < count && static_cast<std::int64_t>(ranks[begin + run]) - ranks[begin + run - 1] ==
                                    static_cast<std::int64_t>(ranks[begin + 1]) - ranks[begin]) {
    run++;
  }
  return run;
}

/// A group's ranks as runs. Room: (2 x count + 1) varints.
inline std::uint8_t* put_members(std::uint8_t* at, const std::int32_t* ranks, std::size_t count) noexcept {
  std::uint64_t runs = 0;
  for (std::size_t i = 0; i < count; i += members_run(ranks, i, count)) {
    runs++;
  }
  at = put_varint(at, runs);
  for (std::size_t i = 0; i < count;) {
    const std::size_t run = members_run(ranks, i, count);
    at = put_varint(put_peer(at, ranks[i]), run);
    if (run > 1) {
      at = put_varint(at, zigzag(static_cast<std::int64_t>(ranks[i + 1]) - ranks[i]));
    }
    i += run;
  }
  return at;
}

template <typename Number>
std::uint8_t* put_little(std::uint8_t* at, Number value) noexcept {
  for (std::size_t i = 0; i < sizeof(Number); i++) {
    *at++ = static_cast<std::uint8_t>(value >> (8U * i));
  }
  return at;
}

inline std::uint8_t* put_chunk_head(std::uint8_t* at, const char (&magic)[4], std::uint32_t payload,
                                    std::uint32_t records, std::uint32_t crc) noexcept {
  for (const char c : magic) {
    *at++ = static_cast<std::uint8_t>(c);
  }
  return put_little(put_little(put_little(at, payload), records), crc);
}

/// The payload of "DONE".
inline std::uint8_t* put_totals(std::uint8_t* at, const Totals& totals) noexcept {
  for (const std::uint64_t value :
       {totals.records, totals.calls, totals.failed_tests, totals.end_ns, totals.end_monotonic_ns,
        totals.ended, totals.detail, totals.lost_calls, totals.failed_calls, totals.unknown_requests,
        totals.bytes, totals.spare}) {
    at = put_little(at, value);
  }
  return at;
}

}  // namespace wulf::trace
