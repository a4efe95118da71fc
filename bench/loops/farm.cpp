// The master-worker farm as the report of 2007 has it: the master receives from anybody and sends the next batch, a
// worker receives, works and sends. The unit is empty but for its 20 bytes, so that the master is what is measured.
//
//     mpirun -n RANKS farm UNITS BATCH      prints the messages a second that the master took in
#include <mpi.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kGreeting = 1;
constexpr int kWork = 2;
constexpr int kResult = 3;
constexpr int kQuit = 4;
constexpr int kWords = 5;
using Digest = std::array<std::uint32_t, kWords>;

Digest unit(std::uint32_t input) {
  Digest digest;
  for (std::uint32_t i = 0; i < kWords; ++i) {
    std::uint32_t word = input + (i * 0x9e3779b9U);
    word = (word ^ (word >> 16U)) * 0x85ebca6bU;
    word = (word ^ (word >> 13U)) * 0xc2b2ae35U;
    digest[i] = word ^ (word >> 16U);
  }
  return digest;
}

void work(int batch) {
  std::vector<std::uint32_t> inputs(static_cast<std::size_t>(batch));
  std::vector<Digest> results(inputs.size());
  MPI_Send(nullptr, 0, MPI_BYTE, 0, kGreeting, MPI_COMM_WORLD);
  while (true) {
    MPI_Status status;
    MPI_Recv(inputs.data(), batch, MPI_UINT32_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == kQuit) {
      return;
    }
    int count = 0;
    MPI_Get_count(&status, MPI_UINT32_T, &count);
    for (int i = 0; i < count; ++i) {
      results[static_cast<std::size_t>(i)] = unit(inputs[static_cast<std::size_t>(i)]);
    }
    MPI_Send(results.data(), count * kWords, MPI_UINT32_T, 0, kResult, MPI_COMM_WORLD);
  }
}

// Messages a second.
double master(std::uint32_t units, int batch, int workers, Digest& sum) {
  std::vector<std::uint32_t> inputs(static_cast<std::size_t>(batch));
  std::vector<Digest> results(inputs.size());
  std::uint32_t next = 0;
  long messages = 0;
  const double start = MPI_Wtime();
  while (workers > 0) {
    MPI_Status status;
    MPI_Recv(results.data(), batch * kWords, MPI_UINT32_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    if (status.MPI_TAG == kResult) {
      int words = 0;
      MPI_Get_count(&status, MPI_UINT32_T, &words);
      for (int i = 0; i < words / kWords; ++i) {
        for (std::size_t k = 0; k < kWords; ++k) {
          sum[k] ^= results[static_cast<std::size_t>(i)][k];
        }
      }
      ++messages;
    }
    int count = 0;
    while (count < batch && next < units) {
      inputs[static_cast<std::size_t>(count++)] = next++;
    }
    MPI_Send(inputs.data(), count, MPI_UINT32_T, status.MPI_SOURCE, count > 0 ? kWork : kQuit, MPI_COMM_WORLD);
    workers -= count > 0 ? 0 : 1;
  }
  return static_cast<double>(messages) / (MPI_Wtime() - start);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (argc != 3 || size < 2) {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  const auto units = static_cast<std::uint32_t>(std::strtoul(argv[1], nullptr, 10));
  const int batch = std::atoi(argv[2]);
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    Digest sum{};
    const double rate = master(units, batch, size - 1, sum);
    std::printf("%.9g %08x\n", rate, sum[0]);
  } else {
    work(batch);
  }
  MPI_Finalize();
}
