#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/life.hpp"
#include "interpose/ticks.hpp"
#include "trace/calls/groups.hpp"
#include "trace/file/buffer.hpp"
#include "trace/format/encode.hpp"
#include "trace/format/ops.hpp"

// What the wrappers of MPI's calls use, which are made from calls.txt: a Span around each call, and after it
// the function of the call's shape, which records it.

namespace wulf::trace {

using interpose::depth;
using interpose::next;
using interpose::ticks;

/// Tests without result in a row, which become one record.
struct FailedTests {
  std::uint64_t count = 0;
  std::uint64_t gap_ns = 0;
  std::uint64_t call_ns = 0;
  std::uint64_t between_ns = 0;
};

/// A message that a matched probe has found.
struct Message {
  Group* group = nullptr;
  std::int32_t source = any;
  std::int32_t tag = any;
};

inline constexpr int kept_at_hand = 32;

/// What a thread needs for itself. It is plain memory: nothing is made when a thread begins, or freed when it
/// ends but at the process's.
struct Thread {
  std::int32_t number = -1;
  std::uint64_t last_end_ns = 0;
  FailedTests tests;
  std::uint64_t at_hand[kept_at_hand] = {};
  std::uint64_t* keys = nullptr;  ///< handles of requests before the call that completes them
  MPI_Status* statuses = nullptr;
  int keys_room = 0;
  int statuses_room = 0;
  MPI_Status status = {};
};

extern thread_local Thread thread __attribute__((tls_model("initial-exec")));

/// Whether calls are recorded: from MPI_Init to MPI_Finalize, where a folder for the trace was named.
extern bool recording;

/// Whether several threads may call at the same time (MPI_THREAD_MULTIPLE).
extern bool threaded;

/// Whether calls are only counted, since the file can't be written any more.
extern bool counting_lost;
extern std::atomic<std::uint64_t> failed_calls;

/// Where several threads record, one at a time does.
class Held {
 public:
  Held() {
    if (threaded) {
      take();
    }
  }
  ~Held() {
    if (threaded) {
      give();
    }
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  Held(Held&&) = delete;
  Held& operator=(Held&&) = delete;

 private:
  static void take();
  static void give();
};

/// One of MPI's calls, where it is the program's own.
class Span {
 public:
  Span(Op op, const void* site) : _op(op), _site(site), _traced(recording && depth == 0) {
    if (counting_lost && depth == 0) {
      lost_calls.fetch_add(1, std::memory_order_relaxed);
    }
    depth++;
  }

  /// Whether this call is recorded.
  [[nodiscard]] bool traced() const { return _traced; }

  /// The call begins now.
  void begin() { _begin = _traced ? ticks() : 0; }

  /// The call has ended; one that MPI refused is no record.
  void end(int result) {
    depth--;
    if (_traced) {
      _end = ticks();
      if (result != MPI_SUCCESS && result != MPI_ERR_IN_STATUS) {
        failed_calls.fetch_add(1, std::memory_order_relaxed);
        _traced = false;
      }
    }
  }

  /// Keep the handles of requests, which the call may take away.
  void keep(int count, const MPI_Request* requests);
  void keep_f(int count, const MPI_Fint* requests);
  void keep_comm(MPI_Comm comm) { _comm = comm; }
  void keep_window(MPI_Win win) { _win = win; }
  void keep_message(MPI_Message message);

  /// A status to look at, where the program wants none.
  [[nodiscard]] MPI_Status* status(MPI_Status* given) const {
    return _traced && given == MPI_STATUS_IGNORE ? &thread.status : given;
  }
  MPI_Status* statuses(int count, MPI_Status* given);
  MPI_Fint* status_f(MPI_Fint* given) const;
  MPI_Fint* statuses_f(int count, MPI_Fint* given);

  [[nodiscard]] Op op() const { return _op; }
  [[nodiscard]] const void* site() const { return _site; }
  [[nodiscard]] std::uint64_t begin_ticks() const { return _begin; }
  [[nodiscard]] std::uint64_t end_ticks() const { return _end; }
  [[nodiscard]] int kept() const { return _kept; }
  [[nodiscard]] MPI_Comm kept_comm() const { return _comm; }
  [[nodiscard]] MPI_Win kept_window() const { return _win; }
  [[nodiscard]] std::uint64_t kept_message() const { return _message; }

 private:
  Op _op;
  const void* _site;
  bool _traced;
  int _kept = 0;
  std::uint64_t _begin = 0;
  std::uint64_t _end = 0;
  std::uint64_t _message = 0;
  MPI_Comm _comm = MPI_COMM_NULL;
  MPI_Win _win = MPI_WIN_NULL;
};

/// Indices of completed requests: C counts from 0, Fortran from 1.
struct Indices {
  const int* at;
  int first;
  int operator[](int i) const { return at[i] - first; }
};

inline int from_one(int index) { return index > 0 ? index - 1 : index; }

/// Bytes of an element; 0 of MPI_DATATYPE_NULL, which stands where a type means nothing.
inline std::uint64_t size_of(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) {
    return 0;
  }
  int size = 0;
  PMPI_Type_size(type, &size);
  return size > 0 ? static_cast<std::uint64_t>(size) : 0;
}

inline std::uint64_t bytes_of(int count, MPI_Datatype type) {
  return count > 0 ? static_cast<std::uint64_t>(count) * size_of(type) : 0;
}

/// Bytes of a message that came.
std::uint64_t bytes_of(const MPI_Status& status);

struct Types {
  const MPI_Datatype* at;
  [[nodiscard]] std::uint64_t size(int i) const { return size_of(at[i]); }
};

struct FortranTypes {
  const MPI_Fint* at;
  [[nodiscard]] std::uint64_t size(int i) const { return size_of(MPI_Type_f2c(at[i])); }
};

inline MPI_Status* of_fortran(MPI_Fint* status) {
  static_assert(
      sizeof(MPI_Fint) == sizeof(int),  // NOLINT(misc-redundant-expression) - where one is the other
      "a status of Fortran is one of C where their integers are alike");
  return reinterpret_cast<MPI_Status*>(status);
}

inline bool in_place(const void* place) { return place == MPI_IN_PLACE; }
bool in_place_f(const void* place);

/// The tag of a call, where it may be any.
inline std::int32_t tag_of(int tag) { return tag == MPI_ANY_TAG ? any : tag; }

/// A record's place, after the head of the record: with room for its fixed fields and `more` bytes. Null: no
/// memory.
std::uint8_t* begin_record(const Span& span, std::size_t more = 0);

/// The record ends here.
void end_record(const std::uint8_t* at);

/// Write out what is recorded, and look whether that could be done.
void write_out();

/// A test without result.
void failed_test(const Span& span);

/// A communicator that no recorded call has made.
void note_found(const Group* group);

// The functions of the shapes: each is told what calls.txt names, of C. They hold the lock (the wrappers take
// it).

void send(const Span&, int count, MPI_Datatype, int peer, int tag, MPI_Comm);
void isend(const Span&, int count, MPI_Datatype, int peer, int tag, MPI_Comm, MPI_Request);
void send_init(const Span&, int count, MPI_Datatype, int peer, int tag, MPI_Comm, MPI_Request);
void recv(const Span&, int peer, int tag, MPI_Comm, const MPI_Status*);
void irecv(const Span&, int count, MPI_Datatype, int peer, int tag, MPI_Comm, MPI_Request);
void recv_init(const Span&, int count, MPI_Datatype, int peer, int tag, MPI_Comm, MPI_Request);
void mrecv(const Span&, const MPI_Status*);
void imrecv(const Span&, int count, MPI_Datatype, MPI_Request);
void probe(const Span&, int peer, int tag, MPI_Comm, const MPI_Status*);
void iprobe(const Span&, int peer, int tag, MPI_Comm, int flag, const MPI_Status*);
void mprobe(const Span&, int peer, int tag, MPI_Comm, MPI_Message, const MPI_Status*);
void improbe(const Span&, int peer, int tag, MPI_Comm, int flag, MPI_Message, const MPI_Status*);
void sendrecv(const Span&, int count, MPI_Datatype, int peer, int tag, int peer2, int tag2, MPI_Comm,
              const MPI_Status*);

void start(const Span&);
void startall(const Span&);
void cancel(const Span&);
void request_free(const Span&);
void get_status(const Span&, MPI_Request, int flag);
void wait(const Span&, const MPI_Status*);
void waitall(const Span&, const MPI_Status*);
void waitany(const Span&, int index, const MPI_Status*);
void waitsome(const Span&, int count, Indices, const MPI_Status*);
void test(const Span&, int flag, const MPI_Status*);
void testall(const Span&, int flag, const MPI_Status*);
void testany(const Span&, int flag, int index, const MPI_Status*);
void testsome(const Span&, int count, Indices, const MPI_Status*);

/// A request that is neither a message nor persistent. Its id; -1: no memory.
std::int32_t open_request(MPI_Request request);

}  // namespace wulf::trace

#include "trace/calls/collectives.hpp"

namespace wulf::trace {

void newcomm(const Span&, MPI_Comm parent, MPI_Comm made, Pending = {});
void freecomm(const Span&);

void newwin(const Span&, MPI_Comm, MPI_Win);
void freewin(const Span&);
void put(const Span&, int count, MPI_Datatype, int peer, MPI_Win, Pending = {});
void get_accumulate(const Span&, int count, MPI_Datatype, int got, MPI_Datatype, int peer, MPI_Win,
                    Pending = {});
void single(const Span&, MPI_Datatype, int peer, MPI_Win);
void epoch(const Span&, MPI_Win);
void epoch_peer(const Span&, int peer, MPI_Win);
void epoch_group(const Span&, MPI_Group, MPI_Win);
void epoch_test(const Span&, MPI_Win, int flag);
void plain(const Span&);
void io(const Span&, int count, MPI_Datatype);

}  // namespace wulf::trace
