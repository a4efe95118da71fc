/* Seconds from MPI_Init to MPI_Finalize, of a program that nobody here wrote: preloaded, also before another such library.
   Rank 0 prints them at the end. Fortran's calls have names of their own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <time.h>

static double began;

static double now(void) {
  struct timespec at;
  clock_gettime(CLOCK_MONOTONIC, &at);
  return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

static void start(void) {
  if (began == 0) {
    began = now();
  }
}

static void stop(void) {
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0 && began > 0) {
    printf("\nstopwatch %.9f\n", now() - began);
    fflush(stdout);
  }
  began = -1; /* one call may be made of another */
}

#define NEXT(name, type) ((type)dlsym(RTLD_NEXT, name))

int MPI_Init(int *argc, char ***argv) {
  start();
  return NEXT("MPI_Init", int (*)(int *, char ***))(argc, argv);
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  start();
  return NEXT("MPI_Init_thread", int (*)(int *, char ***, int, int *))(argc, argv, required, provided);
}

int MPI_Finalize(void) {
  stop();
  return NEXT("MPI_Finalize", int (*)(void))();
}

void mpi_init_(int *error) {
  start();
  NEXT("mpi_init_", void (*)(int *))(error);
}

void mpi_init_thread_(int *required, int *provided, int *error) {
  start();
  NEXT("mpi_init_thread_", void (*)(int *, int *, int *))(required, provided, error);
}

void mpi_finalize_(int *error) {
  stop();
  NEXT("mpi_finalize_", void (*)(int *))(error);
}
