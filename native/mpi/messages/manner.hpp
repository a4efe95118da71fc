#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "core/json/params.hpp"
#include "mpi/time/batches.hpp"

namespace wulf::mpi {

/// How an MPI is asked to move a message.
struct Manner {
  enum class Mode { kBlocking, kNonblocking, kPersistent };
  Mode mode = Mode::kBlocking;
  std::string send = "standard";
  bool any = false;   ///< receives from whoever sends
  bool test = false;  ///< waits by MPI_Test in a loop
  bool cold = false;  ///< no message lies in a cache

  /// From resolved params, of which some may be missing. Throws bad-parameter for what MPI does not have
  /// together.
  [[nodiscard]] static Manner of(const Json& params);
};

/// The functions of one kind of send (standard, synchronous, buffered, ready).
struct SendCalls {
  int (*blocking)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
  int (*nonblocking)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
  int (*init)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);
};

[[nodiscard]] SendCalls send_calls(const std::string& kind);

/// The parameters mode, send, source, wait and buffers, as far as `without` does not name them; `mode` is the
/// default of the first.
[[nodiscard]] std::vector<Param> manner_params(const std::string& mode,
                                               const std::vector<std::string>& without = {});

/// The parameters iterations and warmup; `operation` says of what.
[[nodiscard]] std::vector<Param> length_params(const std::string& operation);

/// What length_params() and `seconds` say.
[[nodiscard]] Length length_of(const Json& params);

/// One list of several.
[[nodiscard]] std::vector<Param> joined(std::vector<std::vector<Param>> lists);

}  // namespace wulf::mpi
