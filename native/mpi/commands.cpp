#include "mpi/commands.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

namespace wulf::mpi {
namespace {

constexpr int kTag = 1;

}  // namespace

void send_command(const World& world, const std::string& text) {
  std::vector<MPI_Request> sends;
  for (int rank = 1; rank < world.size(); ++rank) {
    sends.emplace_back();
    MPI_Isend(text.data(), static_cast<int>(text.size()), MPI_CHAR, rank, kTag, world.control(),
              &sends.back());
  }
  MPI_Waitall(static_cast<int>(sends.size()), sends.data(), MPI_STATUSES_IGNORE);
}

std::string next_command(const World& world) {
  constexpr auto kLongestNap = std::chrono::microseconds(2000);
  auto nap = std::chrono::microseconds(1);
  int arrived = 0;
  MPI_Status status{};
  while (true) {
    MPI_Iprobe(0, kTag, world.control(), &arrived, &status);
    if (arrived != 0) {
      break;
    }
    std::this_thread::sleep_for(nap);
    nap = std::min(nap * 2, kLongestNap);
  }
  int length = 0;
  MPI_Get_count(&status, MPI_CHAR, &length);
  std::string text(static_cast<std::size_t>(length), '\0');
  MPI_Recv(text.data(), length, MPI_CHAR, 0, kTag, world.control(), MPI_STATUS_IGNORE);
  return text;
}

}  // namespace wulf::mpi
