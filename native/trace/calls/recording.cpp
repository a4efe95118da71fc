#include "trace/calls/recording.hpp"

#include <sched.h>

#include <algorithm>

#include "trace/calls/sites.hpp"
#include "trace/file/buffer.hpp"
#include "trace/file/clock.hpp"

namespace wulf::trace {

thread_local Thread thread;
bool recording = false;
bool threaded = false;
bool counting_lost = false;
std::atomic<std::uint64_t> failed_calls = 0;

namespace {

/// Room for a record's fixed fields, and the notes that may come before it.
constexpr std::size_t fixed_room = 256;

/// What a rank that is killed loses at most.
constexpr std::uint64_t flush_interval_ns = 1'000'000'000;

std::atomic_flag held;
std::int32_t threads = 0;
std::uint64_t flush_due = flush_interval_ns;

std::uint8_t* put_tests(std::uint8_t* at) {
  FailedTests& tests = thread.tests;
  *at++ = static_cast<std::uint8_t>(Op::tests);
  at = put_times(at, tests.gap_ns, tests.call_ns);
  at = put_varint(put_varint(at, tests.count), tests.between_ns);
  buffer.totals.failed_tests += tests.count;
  buffer.commit(at, 1, tests.count);
  tests = FailedTests{};
  return at;
}

/// The notes before a record: whose it is, and the tests of this thread that found nothing.
std::uint8_t* put_notes(std::uint8_t* at) {
  if (thread.number < 0) {
    thread.number = threads++;
  }
  if (buffer.thread != thread.number) {
    buffer.thread = thread.number;
    *at++ = static_cast<std::uint8_t>(Op::thread);
    at = put_varint(at, static_cast<std::uint64_t>(thread.number));
    buffer.commit(at, 1, 0);
  }
  return thread.tests.count > 0 ? put_tests(at) : at;
}

struct Times {
  std::uint64_t gap;
  std::uint64_t call;
};

/// Between the thread's call before and this one, and in it.
Times times_of(const Span& span) {
  const std::uint64_t begin = std::max(run_clock.ns(span.begin_ticks()), thread.last_end_ns);
  const std::uint64_t end = std::max(run_clock.ns(span.end_ticks()), begin);
  const Times times{begin - thread.last_end_ns, end - begin};
  thread.last_end_ns = end;
  return times;
}

}  // namespace

void Held::take() {
  while (held.test_and_set(std::memory_order_acquire)) {
    sched_yield();
  }
}

void Held::give() { held.clear(std::memory_order_release); }

std::uint64_t bytes_of(const MPI_Status& status) {
#ifdef OPEN_MPI
  return status._ucount;
#else
  MPI_Count bytes = 0;
  PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
  return bytes > 0 ? static_cast<std::uint64_t>(bytes) : 0;
#endif
}

std::uint8_t* begin_record(const Span& span, std::size_t more) {
  const Times times = times_of(span);
  std::uint8_t* at = buffer.room(fixed_room + more);
  if (at == nullptr) {
    return at;
  }
  at = put_notes(at);
  if (record_sites) {
    at = put_site(at, span.site());
    if (at == nullptr) {
      return at;
    }
  }
  *at++ = static_cast<std::uint8_t>(span.op());
  return put_times(at, times.gap, times.call);
}

void end_record(const std::uint8_t* at) {
  buffer.commit(at, 1, 1);
  if (thread.last_end_ns >= flush_due || buffer.cut) {
    write_out();
    flush_due = thread.last_end_ns + flush_interval_ns;
  }
}

void write_out() {
  buffer.totals.end_ns = std::max(buffer.totals.end_ns, thread.last_end_ns);
  buffer.flush();
  run_clock.adjust();
  if (buffer.cut) {
    recording = false;
    counting_lost = true;
  }
}

void failed_test(const Span& span) {
  const Times times = times_of(span);
  FailedTests& tests = thread.tests;
  if (tests.count == 0) {
    tests.gap_ns = times.gap;
  } else {
    tests.between_ns += times.gap;
  }
  tests.count++;
  tests.call_ns += times.call;
}

}  // namespace wulf::trace
