// MPI_Init and MPI_Finalize, of C and Fortran: where a library that interposes begins and ends.

#include "interpose/life.hpp"

#include <dlfcn.h>

#include <cstdlib>

#include "interpose/ticks.hpp"

namespace wulf::interpose {

thread_local int depth = 0;

void* next(const char* name) {
  void* found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) {
    std::abort();  // nobody can call what no library has
  }
  return found;
}

}  // namespace wulf::interpose

using namespace wulf::interpose;  // NOLINT(google-build-using-namespace) - the only one there is here

namespace {

using Plain = void (*)(MPI_Fint*);
using Threaded = void (*)(const MPI_Fint*, MPI_Fint*, MPI_Fint*);

/// Fortran of MPI that is in the middle of its own initialisation calls C's: the outer one counts.
template <typename Call>
auto begun(Call call, int& level) {
  const std::uint64_t before = monotonic();
  depth++;
  auto status = call();
  depth--;
  if (status == MPI_SUCCESS && depth == 0) {
    PMPI_Query_thread(&level);
    opened(before, level);
  }
  return status;
}

int through(Plain finalize, MPI_Fint* error) {
  static Plain wanted = nullptr;
  static MPI_Fint* answer = nullptr;
  wanted = finalize;
  answer = error;
  return closing([] {
    depth++;
    wanted(answer);
    depth--;
    return MPI_SUCCESS;
  });
}

void init_fortran(const char* name, MPI_Fint* error) {
  int level = 0;
  begun(
      [&] {
        reinterpret_cast<Plain>(next(name))(error);
        return error == nullptr ? MPI_SUCCESS : *error;
      },
      level);
}

void init_thread_fortran(const char* name, const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  int level = 0;
  begun(
      [&] {
        reinterpret_cast<Threaded>(next(name))(required, provided, error);
        return error == nullptr ? MPI_SUCCESS : *error;
      },
      level);
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  int level = 0;
  return begun([&] { return PMPI_Init(argc, argv); }, level);
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  int level = 0;
  return begun([&] { return PMPI_Init_thread(argc, argv, required, provided); }, level);
}

int MPI_Finalize() { return depth == 0 ? closing(PMPI_Finalize) : PMPI_Finalize(); }

void mpi_init_(MPI_Fint* error) { init_fortran("mpi_init_", error); }
void mpi_init_f08_(MPI_Fint* error) { init_fortran("mpi_init_f08_", error); }

void mpi_init_thread_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  init_thread_fortran("mpi_init_thread_", required, provided, error);
}
void mpi_init_thread_f08_(const MPI_Fint* required, MPI_Fint* provided, MPI_Fint* error) {
  init_thread_fortran("mpi_init_thread_f08_", required, provided, error);
}

void mpi_finalize_(MPI_Fint* error) { through(reinterpret_cast<Plain>(next("mpi_finalize_")), error); }
void mpi_finalize_f08_(MPI_Fint* error) {
  through(reinterpret_cast<Plain>(next("mpi_finalize_f08_")), error);
}
}
