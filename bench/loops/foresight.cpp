// Five small programs whose run times bench/foresight/__main__.py predicts on other networks.
//
//     mpirun -n RANKS foresight ping-pong|halo|allreduce|farm|lu      prints the seconds from when all are
//     connected to MPI_Finalize
//     mpirun -n RANKS foresight connect                               does nothing else than connect
//
// They compute by sleeping (but for `lu`): so a machine with fewer CPUs than ranks hosts them fairly, and
// what differs between two networks is the network's doing.
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

namespace {

int rank = 0;
int size = 0;

void compute(int microseconds) { std::this_thread::sleep_for(std::chrono::microseconds(microseconds)); }

// Round trips of three sizes.
void ping_pong() {
  for (const int bytes : {8, 1024, 8192}) {
    std::vector<char> data(static_cast<std::size_t>(bytes));
    for (int round = 0; round < 60 && rank < 2; ++round) {
      for (int turn = 0; turn < 2; ++turn) {
        if (rank == turn) {
          MPI_Send(data.data(), bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD);
        } else {
          MPI_Recv(data.data(), bytes, MPI_BYTE, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
      }
    }
  }
}

// Exchanges with both neighbours of a ring.
void exchange(std::vector<char>& data, int bytes) {
  const int left = (rank + size - 1) % size;
  const int right = (rank + 1) % size;
  std::array<MPI_Request, 4> requests{};
  MPI_Irecv(&data[0], bytes, MPI_BYTE, left, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(&data[static_cast<std::size_t>(bytes)], bytes, MPI_BYTE, right, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(&data[static_cast<std::size_t>(2 * bytes)], bytes, MPI_BYTE, right, 0, MPI_COMM_WORLD,
            &requests[2]);
  MPI_Isend(&data[static_cast<std::size_t>(3 * bytes)], bytes, MPI_BYTE, left, 1, MPI_COMM_WORLD,
            &requests[3]);
  MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
}

// A stencil: exchange with the neighbours, then compute.
void halo() {
  constexpr int kBytes = 8192;
  std::vector<char> data(4 * kBytes);
  for (int step = 0; step < 100; ++step) {
    exchange(data, kBytes);
    compute(500);
  }
}

// Conjugate gradients: a small exchange, and two scalar products a step.
void allreduce() {
  constexpr int kBytes = 1024;
  std::vector<char> data(4 * kBytes);
  for (int step = 0; step < 60; ++step) {
    exchange(data, kBytes);
    compute(300);
    for (int product = 0; product < 2; ++product) {
      double mine = rank;
      double sum = 0;
      MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  }
}

// A master that hands out units of different lengths to whoever asks.
void farm() {
  constexpr int kUnits = 150;
  int unit = 0;
  if (rank != 0) {
    do {
      MPI_Sendrecv(&unit, 1, MPI_INT, 0, 0, &unit, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      compute(unit < 0 ? 0 : 1500 + (unit * 37 % 10) * 200);
    } while (unit >= 0);
    return;
  }
  for (int next = 0, working = size - 1; working > 0; ++next) {
    MPI_Status status;
    MPI_Recv(&unit, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &status);
    unit = next < kUnits ? next : -1;
    working -= unit < 0 ? 1 : 0;
    MPI_Send(&unit, 1, MPI_INT, status.MPI_SOURCE, 0, MPI_COMM_WORLD);
  }
}

// LU decomposition without pivots; columns are dealt out in turn, and each is broadcast when it is done.
void lu() {
  constexpr int kOrder = 160;
  std::vector<std::vector<double>> columns;
  for (int j = rank; j < kOrder; j += size) {
    columns.emplace_back(kOrder, 1.0);
    columns.back()[static_cast<std::size_t>(j)] += kOrder;
  }
  std::vector<double> pivot(kOrder);
  for (int k = 0; k < kOrder; ++k) {
    const auto from = static_cast<std::size_t>(k);
    if (rank == k % size) {
      pivot = columns[static_cast<std::size_t>(k / size)];
      for (std::size_t i = from + 1; i < kOrder; ++i) {
        pivot[i] /= pivot[from];
      }
      columns[static_cast<std::size_t>(k / size)] = pivot;
    }
    MPI_Bcast(&pivot[from], kOrder - k, MPI_DOUBLE, k % size, MPI_COMM_WORLD);
    for (int j = rank; j < kOrder; j += size) {
      if (j > k) {
        auto& column = columns[static_cast<std::size_t>(j / size)];
        for (std::size_t i = from + 1; i < kOrder; ++i) {
          column[i] -= pivot[i] * column[from];
        }
      }
    }
  }
}

// An MPI connects two ranks at their first message, by round trips of its own that no trace tells of.
void connect() {
  std::vector<char> to(static_cast<std::size_t>(size));
  std::vector<char> from(static_cast<std::size_t>(size));
  MPI_Alltoall(to.data(), 1, MPI_BYTE, from.data(), 1, MPI_BYTE, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD);
}

struct Program {
  const char* name;
  void (*run)();
};
constexpr std::array<Program, 5> kPrograms{
    {{"ping-pong", ping_pong}, {"halo", halo}, {"allreduce", allreduce}, {"farm", farm}, {"lu", lu}}};

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  connect();
  const double start = MPI_Wtime();
  bool known = argc == 2 && std::strcmp(argv[1], "connect") == 0;
  if (known) {
    MPI_Finalize();
    return 0;
  }
  for (const Program& program : kPrograms) {
    if (argc == 2 && std::strcmp(argv[1], program.name) == 0) {
      known = true;
      program.run();
    }
  }
  if (!known || size < 2) {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    std::printf("%.9g\n", MPI_Wtime() - start);
  }
  MPI_Finalize();
}
