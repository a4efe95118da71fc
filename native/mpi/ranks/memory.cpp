#include "mpi/ranks/memory.hpp"

#include <vector>

#include "core/host/memory.hpp"

namespace wulf::mpi {
namespace {

constexpr std::uint64_t kMebi = 1 << 20;

/// Of what is left, some is for everybody else.
constexpr double kShareOfMemory = 0.9;

}  // namespace

void require_memory(const World& world, std::uint64_t bytes) {
  std::vector<std::uint64_t> wanted(static_cast<std::size_t>(world.size()));
  MPI_Allgather(&bytes, 1, MPI_UINT64_T, wanted.data(), 1, MPI_UINT64_T, world.control());
  const std::string& host = world.places()[static_cast<std::size_t>(world.rank())].host;
  std::uint64_t together = 0;
  for (std::size_t rank = 0; rank < wanted.size(); ++rank) {
    together += world.places()[rank].host == host ? wanted[rank] : 0;
  }
  const auto left = memory_left();
  if (!left || static_cast<double>(together) <= static_cast<double>(*left) * kShareOfMemory) {
    world.agree(nullptr);
    return;
  }
  const Error error("limit", "the ranks of this host need " + std::to_string(together / kMebi) +
                                 " MiB, and " + std::to_string(*left / kMebi) +
                                 " MiB of memory are left: ask for fewer bytes or messages at once");
  world.agree(&error);
}

std::uint64_t beyond_caches() {
  constexpr std::uint64_t kUnknown = 64 * kMebi;
  const std::uint64_t largest = largest_cache();
  return largest > 0 ? largest : kUnknown;
}

}  // namespace wulf::mpi
