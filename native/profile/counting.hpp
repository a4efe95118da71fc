#pragma once

#include <mpi.h>

#include "interpose/life.hpp"
#include "interpose/ticks.hpp"
#include "profile/hosts.hpp"
#include "profile/ledger.hpp"

namespace wulf::profile {

using interpose::depth;
using interpose::monotonic;
using interpose::next;
using interpose::ticks;

/// What this process sums up.
extern Ledger ledger;

/// Whether anything is counted: from MPI_Init to MPI_Finalize, where a folder for the profile was named.
extern bool counting;

/// Whether several threads may call at the same time (MPI_THREAD_MULTIPLE).
extern bool threaded;

/// Where several threads count, one at a time does.
void lock();
void unlock();

/// The time and the bytes of one of MPI's calls, where it is the program's own.
class Span {
 public:
  explicit Span(std::size_t row) : _entry(counting && depth == 0 ? &ledger.entries[row] : nullptr) {
    depth++;
  }

  /// Whether this call is counted; what it carries is told then.
  [[nodiscard]] bool counted() const { return _entry != nullptr; }

  /// A message of `count` elements to a rank of `comm`.
  void sent(int count, MPI_Datatype type, int peer, MPI_Comm comm) {
    lock();
    _place = place_of(around(comm), peer);
    if (peer != MPI_PROC_NULL) {
      const std::uint64_t bytes = bytes_of(count, type);
      _entry->bytes += bytes;
      ledger.message(_place, bytes);
    }
    unlock();
  }

  /// It waits for a rank of `comm`, or looks for a message of it; also where it has sent to another one
  /// before.
  void awaited(int peer, MPI_Comm comm) {
    lock();
    _place = farther(_place, place_of(around(comm), peer));
    unlock();
  }

  /// A collective whose parameters don't tell a rank's own bytes.
  void joined(MPI_Comm comm) {
    lock();
    locate(comm);
    unlock();
  }

  /// A collective that carries `count` elements of each rank; those of a root without a number mean nothing.
  void joined(int count, MPI_Datatype type, int root, MPI_Comm comm) {
    lock();
    locate(comm);
    if (root >= 0) {
      _entry->bytes += bytes_of(count, type);
    }
    unlock();
  }

  /// As before, where count and type mean nothing at the root.
  void joined_rooted(int count, MPI_Datatype type, int root, MPI_Comm comm) {
    lock();
    const Around* of = locate(comm);
    if (of != nullptr && root >= 0 && root != of->rank) {
      _entry->bytes += bytes_of(count, type);
    }
    unlock();
  }

  /// Partners are not told.
  void open() { _place = Place::open; }

  /// The call begins now.
  void begin() {
    if (counted()) {
      _start = ticks();
    }
  }

  /// The call has ended.
  void end() {
    depth--;
    if (!counted()) {
      return;
    }
    const std::uint64_t now = ticks();
    lock();
    _entry->calls++;
    // two processors' counters may differ by a few ticks
    _entry->ticks[static_cast<std::size_t>(_place)] += now > _start ? now - _start : 0;
    unlock();
  }

 private:
  const Around* locate(MPI_Comm comm) {
    const Around* of = around(comm);
    _place = of == nullptr ? Place::open : of->all;
    return of;
  }

  static std::uint64_t bytes_of(int count, MPI_Datatype type) {
    int size = 0;
    PMPI_Type_size(type, &size);
    return count > 0 && size > 0 ? static_cast<std::uint64_t>(count) * static_cast<std::uint64_t>(size) : 0;
  }

  /// Of an exchange with two partners: who is elsewhere decides, then who is not told.
  static Place farther(Place a, Place b) {
    if (a == Place::other || b == Place::other) {
      return Place::other;
    }
    return a == Place::open || b == Place::open ? Place::open : Place::same;
  }

  Entry* _entry;
  Place _place = Place::same;
  std::uint64_t _start = 0;
};

/// Begin to count, once MPI is initialised; `begun` is the moment before that.
void open_ledger(std::uint64_t begun, int thread_level);

/// Stop counting before MPI ends, and write the profile once it has: whatever happens, MPI ends as without
/// it.
int close_ledger(int (*finalize)());

}  // namespace wulf::profile
