// A halo exchange: each rank computes, exchanges its borders with its neighbours on the ring of ranks, and now and then
// takes part in a sum over all. It waits without spinning: a lab's ranks share a few CPUs.
//   mpirun -n 5 halo BYTES SECONDS

#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kPause = 300;       // microseconds between two looks
constexpr int kCompute = 15'000;  // microseconds of a step that no message takes
constexpr int kSumEvery = 8;      // steps

void wait_for(std::vector<MPI_Request>& requests) {
  for (int done = 0; done == 0;) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0) {
      usleep(kPause);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int bytes = argc > 1 ? std::atoi(argv[1]) : 48'000;
  const double seconds = argc > 2 ? std::atof(argv[2]) : 10;
  const std::vector<int> neighbours{(rank + 1) % ranks, (rank + ranks - 1) % ranks};
  std::vector<std::vector<char>> out(2, std::vector<char>(bytes)), in(2, std::vector<char>(bytes));
  const double began = MPI_Wtime();
  if (rank == 0) {
    std::puts("talking");
    std::fflush(stdout);
  }
  int ended = 0;
  for (int step = 0; ended == 0; ++step) {
    usleep(kCompute);
    std::vector<MPI_Request> requests;
    for (int side = 0; side < 2; ++side) {
      requests.emplace_back();
      MPI_Irecv(in[side].data(), bytes, MPI_CHAR, neighbours[side], 1 - side, MPI_COMM_WORLD, &requests.back());
      requests.emplace_back();
      MPI_Isend(out[side].data(), bytes, MPI_CHAR, neighbours[side], side, MPI_COMM_WORLD, &requests.back());
    }
    wait_for(requests);
    if (step % kSumEvery == 0) {
      const int own = MPI_Wtime() - began > seconds ? 1 : 0;
      std::vector<MPI_Request> sum(1);
      MPI_Iallreduce(&own, &ended, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, sum.data());
      wait_for(sum);
    }
  }
  MPI_Finalize();
  return 0;
}
