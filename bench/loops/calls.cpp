// Seconds a call: one rank sends itself a byte, posted, sent and waited for, over and over.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1000;
  char in = 0;
  char out = 1;
  const auto round = [&] {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&in, 1, MPI_CHAR, 0, 7, MPI_COMM_SELF, &request);
    MPI_Send(&out, 1, MPI_CHAR, 0, 7, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  };
  for (int i = 0; i < rounds / 10; ++i) {
    round();
  }
  const double began = MPI_Wtime();
  for (int i = 0; i < rounds; ++i) {
    round();
  }
  std::printf("%.12f\n", (MPI_Wtime() - began) / rounds / 3);
  MPI_Finalize();
}
