#pragma once

#include <mpi.h>

#include <cstdint>

namespace wulf::interpose {

/// How deep this thread is in MPI: calls that MPI makes of itself belong to the one that the program made.
extern thread_local int depth __attribute__((tls_model("initial-exec")));

/// The next library's function of this name: MPI's own Fortran entry point.
void* next(const char* name);

/// The library's own: MPI is initialised, which began at `begun` (ns of the monotonic clock).
void opened(std::uint64_t begun, int thread_level);

/// The library's own: MPI is to end. Calls `finalize` once, and answers what it answers.
int closing(int (*finalize)());

}  // namespace wulf::interpose
