#include "mpi/ranks/commands.hpp"

#include <vector>

#include "mpi/ranks/patience.hpp"

namespace wulf::mpi {
namespace {

constexpr int kCommandTag = 1;

}  // namespace

void send_command(const World& world, const std::string& text) {
  std::vector<MPI_Request> sends;
  for (int rank = 1; rank < world.size(); ++rank) {
    sends.emplace_back();
    MPI_Isend(text.data(), static_cast<int>(text.size()), MPI_CHAR, rank, kCommandTag, world.control(),
              &sends.back());
  }
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

std::string next_command(const World& world) { return receive_asleep(world.control(), 0, kCommandTag); }

}  // namespace wulf::mpi
