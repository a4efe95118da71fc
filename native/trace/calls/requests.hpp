#pragma once

#include <cstdint>

#include "trace/calls/handles.hpp"

namespace wulf::trace {

struct Group;

/// What is remembered of a request until it completes.
struct Posted {
  const Group* group = nullptr;  ///< of a receive of a wildcard: whose ranks its status names
  std::uint64_t bytes = 0;       ///< of a receive: the room
  std::int32_t thread = 0;       ///< that made it
  std::int32_t next = -1;        ///< id of the next request with the same handle
  bool receive = false;
  bool wildcard = false;
  bool persistent = false;
  bool active = false;
  bool cancelled = false;  ///< MPI_Cancel was called
};

/// The requests under way, by their handles. A handle may stand for several: MPI gives the same one to
/// requests that are complete at once; they are taken in the order of their initiation.
class Requests {
 public:
  /// A new request: its id, the smallest that is free; -1: out of memory.
  std::int32_t open(std::uint64_t key, const Posted& posted);

  /// The oldest request of a handle that this thread has made, or else the oldest; -1: not known. It stays. A
  /// handle may be another thread's again before the end of the first one's wait is recorded.
  [[nodiscard]] std::int32_t look(std::uint64_t key, std::int32_t thread) const;

  /// Forget a request of a handle. Its id may be given again.
  void close(std::uint64_t key, std::int32_t id);

  [[nodiscard]] Posted& of(std::int32_t id) const { return _posted[id]; }

 private:
  std::int32_t smallest_free();
  bool grow();

  HandleMap _by_handle;  ///< value: the oldest id, and the youngest in the upper half
  Posted* _posted = nullptr;
  std::uint64_t* _taken = nullptr;  ///< a bit for each id
  std::int32_t _room = 0;           ///< ids that there is room for, a multiple of 64
  std::int32_t _first = 0;          ///< no id in the words of `_taken` before this one is free
};

}  // namespace wulf::trace
