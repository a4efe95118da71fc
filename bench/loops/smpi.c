/* Six small programs that bench/smpi/__main__.py has SimGrid's SMPI run on two clusters that it simulates.
 *
 *     smpirun -np RANKS … smpi ping-pong|halo|allreduce|farm|lu|transpose
 *
 * They compute so many floating point operations, told to SMPI rather than done. */
#include <mpi.h>
#include <smpi/smpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

/* Round trips of four sizes between each two ranks. */
static void ping_pong(char* data) {
  const int sizes[] = {8, 1024, 16384, 60000};
  for (int which = 0; which < 4; ++which) {
    for (int turn = 0; turn < 40; ++turn) {
      if (turn % 2 == rank % 2) {
        MPI_Send(data, sizes[which], MPI_BYTE, rank ^ 1, 0, MPI_COMM_WORLD);
      } else {
        MPI_Recv(data, sizes[which], MPI_BYTE, rank ^ 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      }
    }
  }
}

/* With both neighbours of a ring. */
static void exchange(char* data, int bytes) {
  MPI_Request requests[4];
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  MPI_Irecv(data, bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(data + bytes, bytes, MPI_BYTE, right, 2, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(data + 2 * bytes, bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(data + 3 * bytes, bytes, MPI_BYTE, left, 2, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* A stencil: some ranks have more to compute than others. */
static void halo(char* data) {
  for (int step = 0; step < 100; ++step) {
    exchange(data, 8192);
    smpi_execute_flops(100e3 + 1e3 * (rank * 7 % 10));
  }
}

/* Conjugate gradients: an exchange and two scalar products a step. */
static void allreduce(char* data) {
  for (int step = 0; step < 60; ++step) {
    exchange(data, 1024);
    smpi_execute_flops(50e3);
    for (int product = 0; product < 2; ++product) {
      double mine = rank;
      double sum = 0;
      MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  }
}

/* A master that hands out units of different lengths to whoever asks. */
static void farm(void) {
  const int units = 20 * size;
  int unit = 0;
  if (rank != 0) {
    while (unit >= 0) {
      MPI_Send(&unit, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
      MPI_Recv(&unit, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      smpi_execute_flops(unit < 0 ? 0 : 300e3 + 40e3 * (unit * 37 % 10));
    }
    return;
  }
  for (int next = 0, working = size - 1; working > 0; ++next) {
    MPI_Status status;
    MPI_Recv(&unit, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    unit = next < units ? next : -1;
    working -= unit < 0;
    MPI_Send(&unit, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
  }
}

/* LU decomposition: panels are dealt out in turn, and each is broadcast when it is done. */
static void lu(char* data) {
  const int panels = 64;
  const int rows = 16;
  for (int k = 0; k < panels; ++k) {
    const int left = panels - k;
    if (rank == k % size) {
      smpi_execute_flops(200.0 * rows * left);
    }
    MPI_Bcast(data, rows * left, MPI_DOUBLE, k % size, MPI_COMM_WORLD);
    smpi_execute_flops(600.0 * rows * left / size * (left / 8 + 1));
  }
}

/* A Fourier transform's transpose: everybody has a block for everybody. */
static void transpose(char* from, char* to) {
  for (int step = 0; step < 10; ++step) {
    MPI_Alltoall(from, 2048, MPI_BYTE, to, 2048, MPI_BYTE, MPI_COMM_WORLD);
    smpi_execute_flops(200e3);
  }
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* which = argc > 1 ? argv[1] : "";
  const size_t room = (size_t)1 << 20;
  char* data = calloc(2, room);
  if (strcmp(which, "ping-pong") == 0) {
    ping_pong(data);
  } else if (strcmp(which, "halo") == 0) {
    halo(data);
  } else if (strcmp(which, "allreduce") == 0) {
    allreduce(data);
  } else if (strcmp(which, "farm") == 0) {
    farm();
  } else if (strcmp(which, "lu") == 0) {
    lu(data);
  } else if (strcmp(which, "transpose") == 0) {
    transpose(data, data + room);
  } else {
    fprintf(stderr, "there is no program '%s'\n", which);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  free(data);
  MPI_Finalize();
  return 0;
}
