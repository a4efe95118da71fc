#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "mpi/lu/grid.hpp"
#include "mpi/lu/panel.hpp"
#include "mpi/plain/lu/doubles.hpp"

namespace wulf::mpi {

/// The exchange of rows among the ranks of a column of the grid: what a panel's pivots ask for, in columns
/// right of it.
///
/// Every rank needs all rows that end in the top block; they are gathered on all. Those that stood there go
/// to the ranks whose rows were taken.
class LuRows {
 public:
  LuRows(const LuGrid& grid, int n, int nb);

  /// Elements that it needs at most.
  [[nodiscard]] static std::size_t elements(const LuGrid& grid, int n, int nb);

  /// Collective in the column. `a` is the local matrix; of its local columns [from, to), returns the rows of
  /// the top block as they are to be, width x (to - from), column by column without gaps. Rows below are
  /// exchanged in `a`; the top block there is left as it was.
  [[nodiscard]] double* exchange(const LuPanel& panel, double* a, int ld, int from, int to);

 private:
  /// Which rows each rank gives, by number of their place in the top block, and which it gets of it.
  void plan(const LuPanel& panel);
  void gather(const LuPanel& panel, const double* a, int ld, int from, int to);
  void displace(const LuPanel& panel, double* a, int ld, int from, int to);
  void put_displaced(const double* from_top, double* a, int ld, int from, int to) const;

  const LuGrid& grid_;
  std::vector<std::vector<int>> gives_;              ///< by rank: places in the top block
  std::vector<std::vector<Moves::Displaced>> gets_;  ///< by rank
  std::vector<int> counts_;
  std::vector<int> starts_;
  Doubles packed_;
  Doubles gathered_;
  Doubles u_;
};

/// The same where one rank has whole columns: in place. `at` is the first column, of `columns`.
void exchange_here(const LuPanel& panel, double* at, int ld, int columns);

}  // namespace wulf::mpi
