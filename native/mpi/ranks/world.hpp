#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "core/json/json.hpp"

namespace wulf::mpi {

/// Who a rank is: where it runs, and what wulf and people find it by.
struct RankPlace {
  std::string host;
  int pid = 0;
  std::string cpus;  ///< those that it may use, as "0-3,8"
};

/// An error that every rank has thrown already: nobody has to be told.
class AgreedError : public Error {
 public:
  using Error::Error;
};

/// All ranks of this launch, as each of them sees it. Communicates on duplicates of MPI_COMM_WORLD, so that
/// nothing of a probe is ever mistaken for something of the session.
///
/// Every communicator has MPI_ERRORS_ARE_FATAL, MPI's own default: after a failed call MPI promises nothing
/// any more, and the launcher that ends all ranks says which one failed.
class World {
 public:
  /// Collective: every rank makes its World right after MPI_Init_thread.
  World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;
  World(World&&) = delete;
  World& operator=(World&&) = delete;
  ~World();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }
  [[nodiscard]] bool root() const { return rank_ == 0; }
  /// The probes' communicator.
  [[nodiscard]] MPI_Comm comm() const { return comm_; }
  /// The session's own: requests, outcomes, agreement on errors.
  [[nodiscard]] MPI_Comm control() const { return control_; }
  /// Every rank's place, by rank; known on all ranks.
  [[nodiscard]] const std::vector<RankPlace>& places() const { return places_; }
  /// "rank 3 on n2", for messages.
  [[nodiscard]] std::string name_of(int rank) const;

  /// Collective: throws AgreedError on every rank, made of the error of the lowest rank that has one, its
  /// message beginning with that rank's name. Null = this rank has none.
  void agree(const Error* error) const;

  /// Collective: returns when every rank has called it. Who waits is asleep, so that ranks which take no part
  /// in a measurement leave the CPUs to those that do.
  void meet() const;

  /// Rank `from`'s JSON on rank 0; null on all others. Ranks other than these two may leave the call out;
  /// rank 0 waits asleep.
  [[nodiscard]] Json hand_over(int from, const Json& json) const;

  /// Collective: rank 0's text, on every rank.
  [[nodiscard]] std::string from_root(const std::string& text) const;

  /// Collective: every rank's text by rank, on rank 0; empty on the others.
  [[nodiscard]] std::vector<std::string> to_root(const std::string& text) const;

 private:
  int rank_ = 0;
  int size_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
  MPI_Comm control_ = MPI_COMM_NULL;
  std::vector<RankPlace> places_;
};

}  // namespace wulf::mpi
