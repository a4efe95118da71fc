#pragma once

#include <mpi.h>

#include "profile/ledger.hpp"

namespace wulf::profile {

/// What is known of a communicator: which of its ranks are on this host.
struct Around {
  int rank = -1;             ///< own rank in it
  int size = 0;              ///< of the group that is spoken to
  Place all = Place::open;   ///< same where all of them are on this host, else other
  Place* by_rank = nullptr;  ///< of each rank
};

/// Learn the hosts of all ranks; collective over MPI_COMM_WORLD. False: out of memory, or MPI refused.
bool learn_hosts();

/// The communicator's places; null where they can't be had. Kept with the communicator until it is freed.
const Around* around(MPI_Comm comm);

/// The place of a rank of `comm`; without such a rank (any source) it is not told.
inline Place place_of(const Around* comm, int rank) {
  if (rank == MPI_PROC_NULL) {
    return Place::same;
  }
  return comm == nullptr || rank < 0 || rank >= comm->size ? Place::open : comm->by_rank[rank];
}

}  // namespace wulf::profile
