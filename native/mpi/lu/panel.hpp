#pragma once

#include <mpi.h>

#include <vector>

#include "mpi/lu/grid.hpp"
#include "mpi/plain/lu/blas.hpp"
#include "mpi/plain/lu/doubles.hpp"
#include "mpi/plain/lu/moves.hpp"
#include "mpi/plain/lu/panel.hpp"

namespace wulf::mpi {

/// A panel: factored by the ranks of one column of the grid, and handed on along each row of it.
///
/// Along a row its owner sends to the next two ranks, of which the first, who factors the next panel, sends
/// it to nobody; from the second on each sends to the next (HPL's "increasing ring, modified"). Both ends of
/// a message are within MPI while it is under way: most MPIs move nothing otherwise. So whoever waits for a
/// panel asks for it between pieces of its work.
class LuPanel {
 public:
  LuPanel(const LuGrid& grid, int n, int nb);
  LuPanel(const LuPanel&) = delete;
  LuPanel& operator=(const LuPanel&) = delete;
  LuPanel(LuPanel&&) = delete;
  LuPanel& operator=(LuPanel&&) = delete;
  ~LuPanel() = default;

  /// Elements that it needs at most.
  [[nodiscard]] static std::size_t elements(const LuGrid& grid, int n, int nb);

  /// From now on it is panel `block`.
  void begin(int block);

  /// The owners: takes the columns from the matrix, of which `at` is the first of the panel's, factors them
  /// together, and puts the top block back. Returns the first column without pivot, or -1.
  [[nodiscard]] int factor(double* at, int ld, const Blas& blas);

  /// The owners: sends it on; the others: it is awaited from now on.
  void hand_on();
  /// Takes it and sends it on if it is under way. True = it is here.
  bool pump();
  /// Returns when it is here.
  void arrive();

  /// Only when it is here.
  [[nodiscard]] const Panel& part() const { return part_; }
  [[nodiscard]] const Moves& moves() const { return moves_; }
  /// Its own rows below the top block.
  [[nodiscard]] const double* below() const { return part_.place(part_.width, 0); }
  [[nodiscard]] int rows_below() const { return part_.rows - part_.width; }

 private:
  void share_top();
  /// Its place in the ring, from the owner on.
  [[nodiscard]] int place() const;
  [[nodiscard]] int source() const;
  [[nodiscard]] int elements_under_way() const;
  void receive();
  void forward();

  const LuGrid& grid_;
  int n_;
  int nb_;
  Doubles memory_;
  std::vector<double> top_;
  std::vector<int> pivots_;
  Panel part_;
  Moves moves_;
  int owner_ = 0;  ///< column of the grid
  bool here_ = true;
};

}  // namespace wulf::mpi
