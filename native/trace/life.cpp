// Where a trace begins and ends.

#include "trace/life.hpp"

#include <pthread.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "trace/calls/recording.hpp"
#include "trace/calls/sites.hpp"
#include "trace/file/buffer.hpp"
#include "trace/file/clock.hpp"

namespace wulf::trace {

namespace {

constexpr int rehearsals = 2000;

bool unfinished = false;  ///< there is a file whose end is not written

/// Nanoseconds that recording a send takes.
std::uint64_t cost_of_a_call(int rank) {
  recording = true;
  const std::uint64_t start = interpose::monotonic();
  for (int i = 0; i < rehearsals; i++) {
    Span span(Op::Send, nullptr);
    span.begin();
    span.end(MPI_SUCCESS);
    send(span, 1, MPI_INT, rank, 0, MPI_COMM_WORLD);
  }
  const std::uint64_t spent = interpose::monotonic() - start;
  recording = false;
  buffer.drop();
  return spent / rehearsals;
}

/// A copy of the process has nothing to tell: the file is its parent's.
void forget_all() {
  recording = false;
  counting_lost = false;
  unfinished = false;
}

void end_at_exit() {
  if (unfinished) {
    finish(Ended::exit, 0);
  }
}

void mark(const Span& span, std::int64_t number) {
  if (std::uint8_t* at = begin_record(span)) {
    end_record(put_varint(at, zigzag(number)));
  }
}

/// A call that is over at once.
void mark_now(Op op, std::int64_t number) {
  Span span(op, nullptr);
  span.begin();
  span.end(MPI_SUCCESS);
  if (span.traced()) {
    const Held held;
    mark(span, number);
  }
}

/// Another MPI_COMM_WORLD than the trace's: its ranks have the same numbers.
bool is_spawned(int rank) {
  MPI_Comm parent = MPI_COMM_NULL;
  PMPI_Comm_get_parent(&parent);
  if (parent != MPI_COMM_NULL && rank == 0) {
    (void)std::fprintf(stderr, "wulf: processes that the program spawned are not traced\n");
  }
  return parent != MPI_COMM_NULL;
}

void begin_trace(const char* folder, std::uint64_t begun, int thread_level) {
  int rank = 0;
  int size = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (is_spawned(rank) || !learn_world() || !buffer.open(folder, rank)) {
    return;
  }
  const std::uint64_t init_ns = interpose::monotonic() - begun;
  run_clock.begin();
  const std::uint64_t cost = cost_of_a_call(rank);
  const char* sites = std::getenv("WULF_TRACE_SITES");
  record_sites = sites != nullptr && std::strcmp(sites, "1") == 0;
  threaded = thread_level == MPI_THREAD_MULTIPLE;
  watch_signals();
  pthread_atfork(nullptr, nullptr, forget_all);
  run_clock.begin();
  thread.last_end_ns = 0;
  const char* header = header_text(rank, size, thread_level, init_ns, cost);
  unfinished = header != nullptr && buffer.write_header(header, std::strlen(header));
  recording = unfinished;
}

void abort_trace(int code) {
  mark_now(Op::abort, code);
  if (unfinished) {
    finish(Ended::abort, static_cast<std::uint64_t>(static_cast<std::int64_t>(code)));
  }
}

int end_trace(int (*finalize)()) {
  if (!unfinished) {
    return finalize();
  }
  if (!recording) {  // the file was cut
    finish(Ended::unwritable, 0);
  } else {
    write_out();  // whatever happens to MPI in its end
  }
  Span span(Op::finalize, nullptr);
  span.begin();
  recording = false;
  const int status = finalize();
  span.end(status);
  if (span.traced()) {
    const Held held;
    plain(span);
  }
  finish(Ended::finalize, 0);
  forget_all();
  return status;
}

struct Load {
  Load() { run_clock.load(); }
  ~Load() { end_at_exit(); }
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  Load(Load&&) = delete;
  Load& operator=(Load&&) = delete;
};

const Load load;

using Abort = void (*)(const MPI_Fint*, const MPI_Fint*, MPI_Fint*);
using Pcontrol = void (*)(const MPI_Fint*);

void abort_fortran(const char* name, const MPI_Fint* comm, const MPI_Fint* code, MPI_Fint* error) {
  abort_trace(*code);
  reinterpret_cast<Abort>(next(name))(comm, code, error);
}

void pcontrol_fortran(const char* name, const MPI_Fint* level) {
  mark_now(Op::pcontrol, *level);
  reinterpret_cast<Pcontrol>(next(name))(level);
}

}  // namespace

void take_stock(Totals& totals) {
  totals.end_ns = std::max(totals.end_ns, thread.last_end_ns);
  totals.end_monotonic_ns = run_clock.monotonic_ns();
  totals.lost_calls = lost_calls.load(std::memory_order_relaxed);
  totals.failed_calls = failed_calls.load(std::memory_order_relaxed);
}

void finish(Ended why, std::uint64_t detail) {
  take_stock(buffer.totals);
  buffer.finish(why, detail);
}

}  // namespace wulf::trace

namespace wulf::interpose {

void opened(std::uint64_t begun, int thread_level) {
  const char* folder = std::getenv("WULF_TRACE_DIR");
  if (!trace::unfinished && folder != nullptr && *folder != '\0') {
    trace::begin_trace(folder, begun, thread_level);
  }
}

int closing(int (*finalize)()) { return trace::end_trace(finalize); }

}  // namespace wulf::interpose

extern "C" {

int MPI_Abort(MPI_Comm comm, int code) {
  if (wulf::interpose::depth == 0) {
    wulf::trace::abort_trace(code);
  }
  return PMPI_Abort(comm, code);
}

int MPI_Pcontrol(const int level, ...) {
  if (wulf::interpose::depth == 0) {
    wulf::trace::mark_now(wulf::trace::Op::pcontrol, level);
  }
  return PMPI_Pcontrol(level);
}

void mpi_abort_(const MPI_Fint* comm, const MPI_Fint* code, MPI_Fint* error) {
  wulf::trace::abort_fortran("mpi_abort_", comm, code, error);
}
void mpi_abort_f08_(const MPI_Fint* comm, const MPI_Fint* code, MPI_Fint* error) {
  wulf::trace::abort_fortran("mpi_abort_f08_", comm, code, error);
}
void mpi_pcontrol_(const MPI_Fint* level) { wulf::trace::pcontrol_fortran("mpi_pcontrol_", level); }
void mpi_pcontrol_f08_(const MPI_Fint* level) { wulf::trace::pcontrol_fortran("mpi_pcontrol_f08_", level); }
}
