#include <mpi.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>

#include "core/session/operations.hpp"
#include "mpi/ranks/world.hpp"
#include "mpi/service.hpp"

namespace {

constexpr const char* kHelp =
    "wulf-mpi: measures MPI between its ranks. Part of wulf.\n\n"
    "Without arguments, started by mpirun or srun: a session on rank 0. Requests are JSON Lines on stdin, "
    "such as\n"
    "{\"id\": 1, \"op\": \"describe\"}; it ends when stdin closes.\n\n"
    "  --describe   print what this program can do, as one JSON object\n"
    "  --version    print the version\n";

/// What needs no ranks: nothing of MPI is started for it.
int explain(const std::string& option) {
  if (option == "--version") {
    std::cout << "wulf-mpi " << WULF_VERSION << '\n';
    return 0;
  }
  if (option == "--describe") {
    std::cout << wulf::mpi::describe().dump() << '\n';
    return 0;
  }
  const bool known = option == "--help";
  (known ? std::cout : std::cerr) << (known ? "" : "wulf-mpi: unknown option " + option + "\n") << kHelp;
  return known ? 0 : 2;
}

void serve() {
  const wulf::mpi::World world;
  if (world.root()) {
    serve_root(world);
  } else {
    serve_follower(world);
  }
}

int serve_ranks(int argc, char** argv) {
  (void)std::signal(SIGPIPE, SIG_IGN);  // a reader that went away is an error of write(2), not a death
  wulf::end_with_parent();
  // As the programs that are measured for: from MPI_THREAD_FUNNELED on, Open MPI 4 takes locks for every
  // message (a fifth fewer messages a second). The session's own threads never call MPI, see Jobs.
  MPI_Init(&argc, &argv);
  try {
    serve();
  } catch (const std::exception& error) {
    std::cerr << "wulf-mpi: " << error.what() << '\n';
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return argc > 1 ? explain(argv[1]) : serve_ranks(argc, argv);
  } catch (const std::exception& error) {
    (void)std::fputs(error.what(), stderr);
    return 1;
  }
}
