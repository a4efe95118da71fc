#pragma once

#include <mpi.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mpi/plain/messages/pieces.hpp"

namespace wulf::mpi {

/// Who takes part in a collective, as one of them, and what is asked for.
struct Group {
  int ranks = 1;
  int rank = 0;
  int root = 0;
  std::size_t bytes = 0;  ///< as the operation's `help` counts it

  [[nodiscard]] bool is_root() const { return rank == root; }
  /// Elements of a sum's vector.
  [[nodiscard]] int terms() const { return static_cast<int>(bytes / sizeof(float)); }
};

/// All that one call needs, prepared, so that nothing but the call is timed.
struct Operands {
  MPI_Comm comm = MPI_COMM_NULL;
  Group group;
  std::vector<std::byte> send;
  std::vector<std::byte> receive;
  std::vector<int> counts;  ///< of the variants with counts for each rank
  std::vector<int> starts;
};

/// One collective as data: what lies in its buffers before and after, and how it is called.
struct Operation {
  const char* name;
  const char* help;  ///< what `bytes` counts
  bool sums;         ///< adds floats rather than moves bytes
  Pieces (*sends)(const Group&);
  Pieces (*receives)(const Group&);
  /// Items for each rank, where the call names them; of floats or bytes.
  std::vector<int> (*counts)(const Group&);
  void (*call)(Operands&);
};

/// All of them; a further one is one more row.
[[nodiscard]] std::span<const Operation> operations();
[[nodiscard]] const Operation& operation(const std::string& name);

/// Buffers, filled; the communicator is still to be set. Error("limit") where counts of all ranks together
/// exceed what MPI can say.
[[nodiscard]] Operands operands(const Operation& operation, const Group& group);

/// Takes away what was received, so that nothing old can pass for new.
void forget(Operands& operands);

/// What was received wrongly, or nothing.
[[nodiscard]] std::optional<std::string> wrong_result(const Operation& operation, const Operands& operands);

}  // namespace wulf::mpi
