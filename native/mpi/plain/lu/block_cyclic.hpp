#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace wulf::mpi {

/// Processes as a grid, numbered row by row.
struct Grid {
  int rows = 1;
  int columns = 1;

  [[nodiscard]] int size() const { return rows * columns; }
  [[nodiscard]] int row_of(int rank) const { return rank / columns; }
  [[nodiscard]] int column_of(int rank) const { return rank % columns; }
  /// As near to a square as so many processes allow, never with more rows than columns.
  [[nodiscard]] static Grid squarest(int ranks);
};

/// A square matrix dealt out in blocks, as ScaLAPACK's (block-cyclic, first block at process 0): block (I, J)
/// lies at row I mod rows, column J mod columns of the grid. A rank keeps its blocks in one array, column by
/// column.
struct Matrix {
  int n = 0;
  int nb = 1;
  Grid grid;

  [[nodiscard]] int blocks() const { return (n + nb - 1) / nb; }
  /// Rows or columns of block `index`; the last one may be smaller.
  [[nodiscard]] int width(int index) const;
  /// Rows (or columns) that process `place` of `places` has.
  [[nodiscard]] int local(int place, int places) const;
  [[nodiscard]] int local_rows(int rank) const { return local(grid.row_of(rank), grid.rows); }
  [[nodiscard]] int local_columns(int rank) const { return local(grid.column_of(rank), grid.columns); }
  /// Where element (0, 0) of block (I, J) lies in its rank's array.
  [[nodiscard]] std::size_t at(int rank, int row_block, int column_block) const;
};

/// Block (row, column) of a matrix.
struct Block {
  int row;
  int column;
};

/// The blocks (I, J) of the transpose that rank `to` gets from `from`, which has them as (J, I), in an order
/// on which both agree.
[[nodiscard]] std::vector<Block> blocks_between(const Matrix& matrix, int from, int to);

/// Elements of them all.
[[nodiscard]] std::size_t elements(const Matrix& matrix, const std::vector<Block>& blocks);

/// Element (i, j) of matrix number `which`: below 1, a multiple of 2⁻²⁰, so that sums of many stay exact.
[[nodiscard]] double element(std::uint64_t which, int i, int j);

/// Writes the transposes of `rank`'s blocks (J, I) into `out`, one after the other, each column by column.
void pack_transposed(const Matrix& matrix, int rank, const std::vector<double>& from,
                     const std::vector<Block>& blocks, std::vector<double>& out);

/// Adds the transposes of `rank`'s blocks (J, I) to its own blocks (I, J): what it would send to itself.
void add_transposed(const Matrix& matrix, int rank, const std::vector<double>& from,
                    const std::vector<Block>& blocks, std::vector<double>& to);

/// Adds what pack_transposed() wrote to `rank`'s blocks (I, J).
void add_packed(const Matrix& matrix, int rank, const std::vector<double>& packed,
                const std::vector<Block>& blocks, std::vector<double>& to);

}  // namespace wulf::mpi
