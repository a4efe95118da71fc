#include "mpi/ranks/patience.hpp"

namespace wulf::mpi {

std::string receive_asleep(MPI_Comm comm, int from, int tag) {
  MPI_Status status{};
  sleep_until([&] {
    int arrived = 0;
    MPI_Iprobe(from, tag, comm, &arrived, &status);
    return arrived != 0;
  });
  int length = 0;
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string text(static_cast<std::size_t>(length), '\0');
  MPI_Recv(text.data(), length, MPI_CHAR, from, tag, comm, MPI_STATUS_IGNORE);
  return text;
}

}  // namespace wulf::mpi
