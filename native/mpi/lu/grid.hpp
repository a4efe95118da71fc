#pragma once

#include <mpi.h>

#include "mpi/plain/lu/deal.hpp"

namespace wulf::mpi {

class World;

/// A rank's place in a grid, and whom it talks to.
class LuGrid {
 public:
  /// Collective. Ranks are numbered row by row, or column by column.
  LuGrid(const World& world, int rows, int columns, bool by_rows);
  LuGrid(const LuGrid&) = delete;
  LuGrid& operator=(const LuGrid&) = delete;
  LuGrid(LuGrid&&) = delete;
  LuGrid& operator=(LuGrid&&) = delete;
  /// Collective.
  ~LuGrid();

  [[nodiscard]] int rows() const { return rows_; }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] int row() const { return row_; }
  [[nodiscard]] int column() const { return column_; }
  /// Those of this rank's row, by column.
  [[nodiscard]] MPI_Comm across() const { return across_; }
  /// Those of its column, by row.
  [[nodiscard]] MPI_Comm down() const { return down_; }
  [[nodiscard]] MPI_Comm all() const { return all_; }

  /// How the rows of a matrix of n are dealt out, and its columns with b.
  [[nodiscard]] Deal deal_rows(int n, int nb) const { return {n, nb, rows_, row_}; }
  [[nodiscard]] Deal deal_columns(int n, int nb) const { return {n + 1, nb, columns_, column_}; }

 private:
  int rows_;
  int columns_;
  int row_;
  int column_;
  MPI_Comm all_;
  MPI_Comm across_ = MPI_COMM_NULL;
  MPI_Comm down_ = MPI_COMM_NULL;
};

}  // namespace wulf::mpi
