// Kernels from a round trip to an exchange of conjugate gradients, each of
// which bench/foresight/public.py foretells: the first that errs names the cause.
//
//     mpirun -n 2 ladder KERNEL
//
// They compute by sleeping, but for `busy`.
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

namespace {

constexpr int kRounds = 100;
constexpr int kSmall = 8;
constexpr int kMedium = 8192;
constexpr int kLarge = 256 * 1024; // rendezvous, of the MPIs here

int rank = 0;
std::vector<char> out(4 * kLarge);
std::vector<char> in(4 * kLarge);

int other() { return 1 - rank; }
void sleep_for(int microseconds) {
  std::this_thread::sleep_for(std::chrono::microseconds(microseconds));
}
void send(int bytes, int to = other()) {
  MPI_Send(out.data(), bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
}
void receive(int bytes) {
  MPI_Recv(in.data(), bytes, MPI_BYTE, other(), 0, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
}

void round_trip(int bytes) {
  if (rank == 0) {
    send(bytes);
    receive(bytes);
  } else {
    receive(bytes);
    send(bytes);
  }
}

void ping_pong() {
  for (const int bytes : {kSmall, 1024, kMedium}) {
    for (int i = 0; i < kRounds; ++i) {
      round_trip(bytes);
    }
  }
}

// As conjugate gradients do: the receive is posted, the message sent, then the
// receive waited for.
void exchange(int bytes, int with) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(in.data(), bytes, MPI_BYTE, with, 0, MPI_COMM_WORLD, &request);
  send(bytes, with);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

void both_ways() {
  for (int i = 0; i < kRounds; ++i) {
    exchange(kSmall, other());
  }
}

void both_ways_medium() {
  for (int i = 0; i < kRounds; ++i) {
    exchange(kMedium, other());
  }
}

void both_ways_large() {
  for (int i = 0; i < kRounds / 4; ++i) {
    MPI_Request requests[2];
    MPI_Irecv(in.data(), kLarge, MPI_BYTE, other(), 0, MPI_COMM_WORLD,
              &requests[0]);
    MPI_Isend(out.data(), kLarge, MPI_BYTE, other(), 0, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

void sendrecv() {
  for (int i = 0; i < kRounds; ++i) {
    MPI_Sendrecv(out.data(), kMedium, MPI_BYTE, other(), 0, in.data(), kMedium,
                 MPI_BYTE, other(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

// Many small messages one way, and an answer.
void chain() {
  constexpr int kMessages = 50;
  for (int i = 0; i < kRounds; ++i) {
    for (int message = 0; message < kMessages; ++message) {
      rank == 0 ? send(kSmall) : receive(kSmall);
    }
    rank == 0 ? receive(kSmall) : send(kSmall);
  }
}

void itself() {
  for (int i = 0; i < kRounds; ++i) {
    exchange(kMedium, rank);
    round_trip(kSmall);
  }
}

void waitall() {
  constexpr int kMessages = 16;
  constexpr int kBytes = 1024;
  for (int i = 0; i < kRounds; ++i) {
    std::array<MPI_Request, 2 * kMessages> requests{};
    for (int message = 0; message < kMessages; ++message) {
      MPI_Irecv(&in[static_cast<std::size_t>(message * kBytes)], kBytes,
                MPI_BYTE, other(), message, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(message)]);
    }
    for (int message = 0; message < kMessages; ++message) {
      MPI_Isend(&out[static_cast<std::size_t>(message * kBytes)], kBytes,
                MPI_BYTE, other(), message, MPI_COMM_WORLD,
                &requests[static_cast<std::size_t>(kMessages + message)]);
    }
    MPI_Waitall(2 * kMessages, requests.data(), MPI_STATUSES_IGNORE);
  }
}

// The receiver comes late, of messages that do not wait for it and of those
// that do.
void late(int bytes) {
  for (int i = 0; i < kRounds / 2; ++i) {
    if (rank == 1) {
      sleep_for(5000);
    }
    round_trip(bytes);
  }
}
void late_eager() { late(kMedium); }
void late_large() { late(kLarge); }

// Messages that come while their receiver computes without a call of MPI.
void busy() {
  for (int i = 0; i < kRounds / 2; ++i) {
    const auto until =
        std::chrono::steady_clock::now() + std::chrono::milliseconds(4);
    while (std::chrono::steady_clock::now() < until) {
    }
    exchange(kMedium, other());
  }
}

void allreduce() {
  for (int i = 0; i < kRounds; ++i) {
    double mine = rank;
    double sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

void gradients() {
  for (int i = 0; i < kRounds; ++i) {
    exchange(kMedium, other());
    exchange(kMedium, rank);
    exchange(kSmall, other());
    exchange(kSmall, other());
  }
}

struct Kernel {
  const char *name;
  void (*run)();
};
constexpr std::array<Kernel, 13> kKernels{
    {{"ping-pong", ping_pong},
     {"both-ways", both_ways},
     {"both-ways-medium", both_ways_medium},
     {"both-ways-large", both_ways_large},
     {"sendrecv", sendrecv},
     {"chain", chain},
     {"itself", itself},
     {"waitall", waitall},
     {"late-eager", late_eager},
     {"late-large", late_large},
     {"busy", busy},
     {"allreduce", allreduce},
     {"gradients", gradients}}};

} // namespace

int main(int argc, char **argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  bool known = false;
  for (const Kernel &kernel : kKernels) {
    if (argc == 2 && std::strcmp(argv[1], kernel.name) == 0) {
      known = true;
      kernel.run();
    }
  }
  if (!known) {
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  MPI_Finalize();
}
