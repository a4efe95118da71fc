#pragma once

#include <mpi.h>

#include <cstdint>

#include "trace/format/fields.hpp"

namespace wulf::trace {

/// A communicator: its number in the trace, and whom its ranks are in MPI_COMM_WORLD.
struct Group {
  std::int32_t number = 0;
  std::int32_t users = 1;  ///< the communicator itself, its windows, requests and messages under way
  int rank = 0;            ///< own rank in it
  int size = 0;            ///< ranks that can be spoken to: of an intercommunicator the remote ones
  int own_size = 0;
  bool two_sides = false;
  std::int32_t* own = nullptr;    ///< members; null: rank i is rank i of MPI_COMM_WORLD
  std::int32_t* world = nullptr;  ///< those that can be spoken to, in the same way
  int sources = 0;                ///< neighbours of a topology
  int destinations = 0;
};

/// A window: its number, and the group of its communicator.
struct Window {
  std::int32_t number = 0;
  Group* group = nullptr;
};

/// Learn MPI_COMM_WORLD and MPI_COMM_SELF. False: out of memory.
bool learn_world();

/// The communicator's group; null: MPI_COMM_NULL, or out of memory. One that no recorded call has made is
/// noted.
Group* group_of(MPI_Comm comm);

/// A communicator that was made now, as a copy of another one where `like` is given.
Group* learn(MPI_Comm comm, const Group* like);

/// Forget a communicator that is freed: its handle may come again.
void forget(MPI_Comm comm);

/// As long as something uses it, a group is there.
void retain(Group* group);
void release(Group* group);

Window* window_of(MPI_Win win);
Window* learn_window(MPI_Win win, MPI_Comm comm);
void forget_window(MPI_Win win);

/// A rank of a group in MPI_COMM_WORLD.
inline std::int32_t world_rank(const Group* group, int rank) {
  if (rank >= 0) {
    if (group == nullptr || rank >= group->size) {
      return elsewhere;
    }
    return group->world == nullptr ? rank : group->world[rank];
  }
  return rank == MPI_PROC_NULL ? nobody : any;
}

/// The ranks of any MPI group in MPI_COMM_WORLD, to be freed; null: out of memory, or none.
std::int32_t* members_of(MPI_Group group, int* size);

}  // namespace wulf::trace
