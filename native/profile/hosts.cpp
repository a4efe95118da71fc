#include "profile/hosts.hpp"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>

namespace wulf::profile {

namespace {

std::uint64_t* world_hosts = nullptr;
int world_size = 0;
int world_rank = 0;
int keyval = MPI_KEYVAL_INVALID;

MPI_Comm last_comm = MPI_COMM_NULL;
const Around* last_around = nullptr;

/// FNV-1a of the host's name: what the ranks compare instead of names.
std::uint64_t host_number() {
  char name[256] = {};
  (void)gethostname(name, sizeof(name) - 1);
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char* at = name; *at != '\0'; at++) {
    hash = (hash ^ static_cast<unsigned char>(*at)) * 0x100000001b3U;
  }
  return hash;
}

int forget(MPI_Comm /*comm*/, int /*keyval*/, void* value, void* /*extra*/) {
  auto* gone = static_cast<Around*>(value);
  if (gone == last_around) {
    last_comm = MPI_COMM_NULL;
    last_around = nullptr;
  }
  std::free(gone->by_rank);
  std::free(gone);
  return MPI_SUCCESS;
}

/// The ranks that are spoken to in `comm`: the other side's, where there are two.
MPI_Group partners(MPI_Comm comm) {
  int two_sides = 0;
  PMPI_Comm_test_inter(comm, &two_sides);
  MPI_Group group = MPI_GROUP_NULL;
  if (two_sides != 0) {
    PMPI_Comm_remote_group(comm, &group);
  } else {
    PMPI_Comm_group(comm, &group);
  }
  return group;
}

/// Fills `by_rank` from the world's hosts; a process that was spawned later counts as elsewhere.
bool translate(Around& made, MPI_Group group) {
  const auto count = static_cast<std::size_t>(made.size);
  auto* ranks = static_cast<int*>(std::calloc(2 * count, sizeof(int)));
  made.by_rank = static_cast<Place*>(std::calloc(count, sizeof(Place)));
  if (ranks == nullptr || made.by_rank == nullptr) {
    std::free(ranks);
    std::free(made.by_rank);
    return false;
  }
  int* in_world = ranks + count;
  for (int i = 0; i < made.size; i++) {
    ranks[i] = i;
  }
  MPI_Group world = MPI_GROUP_NULL;
  PMPI_Comm_group(MPI_COMM_WORLD, &world);
  PMPI_Group_translate_ranks(group, made.size, ranks, world, in_world);
  PMPI_Group_free(&world);
  made.all = Place::same;
  for (std::size_t i = 0; i < count; i++) {
    const int at = in_world[i];
    const bool here = at != MPI_UNDEFINED && world_hosts[at] == world_hosts[world_rank];
    made.by_rank[i] = here ? Place::same : Place::other;
    made.all = here ? made.all : Place::other;
  }
  std::free(ranks);
  return true;
}

const Around* make(MPI_Comm comm) {
  auto* made = static_cast<Around*>(std::calloc(1, sizeof(Around)));
  if (made == nullptr) {
    return nullptr;
  }
  MPI_Group group = partners(comm);
  PMPI_Comm_rank(comm, &made->rank);
  PMPI_Group_size(group, &made->size);
  const bool known = translate(*made, group);
  PMPI_Group_free(&group);
  if (!known || PMPI_Comm_set_attr(comm, keyval, made) != MPI_SUCCESS) {
    if (known) {
      std::free(made->by_rank);
    }
    std::free(made);
    return nullptr;
  }
  return made;
}

}  // namespace

bool learn_hosts() {
  PMPI_Comm_size(MPI_COMM_WORLD, &world_size);
  PMPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  world_hosts =
      static_cast<std::uint64_t*>(std::calloc(static_cast<std::size_t>(world_size), sizeof(std::uint64_t)));
  std::uint64_t own = host_number();
  int ready = world_hosts == nullptr ? 0 : 1;
  int all_ready = 0;
  // a rank that found no memory must not leave the others waiting for it
  PMPI_Allreduce(&ready, &all_ready, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return all_ready != 0 &&
         PMPI_Allgather(&own, 1, MPI_UINT64_T, world_hosts, 1, MPI_UINT64_T, MPI_COMM_WORLD) == MPI_SUCCESS &&
         PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, forget, &keyval, nullptr) == MPI_SUCCESS;
}

const Around* around(MPI_Comm comm) {
  if (comm == last_comm && last_around != nullptr) {
    return last_around;
  }
  if (comm == MPI_COMM_NULL) {
    return nullptr;
  }
  void* kept = nullptr;
  int there = 0;
  PMPI_Comm_get_attr(comm, keyval, static_cast<void*>(&kept), &there);
  const Around* found = there != 0 ? static_cast<const Around*>(kept) : make(comm);
  last_comm = comm;
  last_around = found;
  return found;
}

}  // namespace wulf::profile
