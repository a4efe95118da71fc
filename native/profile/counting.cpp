#include "profile/counting.hpp"

#include <atomic>
#include <cstdlib>

#include "profile/calls.hpp"
#include "profile/writing.hpp"

namespace wulf::profile {

Ledger ledger;
bool counting = false;
bool threaded = false;

namespace {

constexpr int rehearsals = 2000;

Entry* entries = nullptr;
std::atomic_flag held;
Run run;

/// What counting one call costs, in ticks: the median is not needed of what is repeated so often.
std::uint64_t cost_of_a_call() {
  const Ledger before = ledger;
  const Entry first = entries[0];
  const std::uint64_t start = ticks();
  for (int i = 0; i < rehearsals; i++) {
    Span span(0);
    if (span.counted()) {
      span.sent(1, MPI_INT, run.rank, MPI_COMM_WORLD);
    }
    span.begin();
    span.end();
  }
  const std::uint64_t spent = ticks() - start;
  ledger = before;
  entries[0] = first;
  return spent / rehearsals;
}

}  // namespace

void lock() {
  while (threaded && held.test_and_set(std::memory_order_acquire)) {
  }
}

void unlock() {
  if (threaded) {
    held.clear(std::memory_order_release);
  }
}

void open_ledger(std::uint64_t begun, int thread_level) {
  const char* folder = std::getenv("WULF_PROFILE");
  if (counting || folder == nullptr || *folder == '\0') {
    return;
  }
  run.folder = folder;
  entries = static_cast<Entry*>(std::calloc(row_count, sizeof(Entry)));
  run.entries = entries;
  run.clock_before = begun;
  run.threads = thread_level;
  PMPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &run.ranks);
  if (!learn_hosts() || entries == nullptr) {
    return;
  }
  ledger.entries = entries;
  interpose::counts_cycles = interpose::has_steady_counter();
  threaded = thread_level == MPI_THREAD_MULTIPLE;
  run.clock_begin = monotonic();
  run.ticks_begin = ticks();
  counting = true;
}

int close_ledger(int (*finalize)()) {
  if (!counting) {
    return finalize();
  }
  run.ticks_end = ticks();
  run.clock_end = monotonic();
  run.cost = cost_of_a_call();
  counting = false;
  learn_library(run);
  const int status = finalize();
  run.clock_after = monotonic();
  write_profile(run, ledger);
  return status;
}

}  // namespace wulf::profile

namespace wulf::interpose {

void opened(std::uint64_t begun, int thread_level) { profile::open_ledger(begun, thread_level); }

int closing(int (*finalize)()) { return profile::close_ledger(finalize); }

}  // namespace wulf::interpose
