#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace wulf::replay {

/// A row of a library's decision; of one operation's rows the first that fits counts.
struct Choice {
  int ranks_below = 0;            ///< 0: any number
  std::uint64_t bytes_below = 0;  ///< 0: any
  const char* way = nullptr;      ///< an algorithm of the operation
  bool power_of_two = false;      ///< only for such a number of ranks
};

/// How a library decides about one operation.
struct Decision {
  const char* op;
  bool total;  ///< bytes are those of all ranks' blocks, else of one
  std::span<const Choice> choices;
};

/// The algorithms that an MPI library takes unless it is told otherwise.
struct Library {
  const char* name;    ///< "openmpi"
  const char* source;  ///< the version and file whose thresholds these are
  std::span<const Decision> decisions;
};

extern const Library kOpenMpi;
extern const Library kMpich;

/// The library that a trace's `mpi` names: "Open MPI v4.1.4 …". Those that are made from MPICH (Intel MPI,
/// MVAPICH, Cray) are taken as it; one that is not known as Open MPI.
[[nodiscard]] const Library& library_of(const std::string& mpi);

/// The library called "openmpi" or "mpich"; null: there is none of that name.
[[nodiscard]] const Library* find_library(const std::string& name);

/// The way in which so many ranks carry out `op`; `block` are the bytes of one rank's block, or of the whole
/// vector where there are no blocks. "linear" where the library says nothing.
[[nodiscard]] std::string choose(const Library& library, const std::string& op, int ranks,
                                 std::uint64_t block, std::uint64_t total);

}  // namespace wulf::replay
