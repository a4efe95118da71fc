#include "mpi/plain/lu/block_cyclic.hpp"

#include <algorithm>

namespace wulf::mpi {
namespace {

/// Calls `put(i, j, value)` for every element of block (I, J) of the transpose, which `rank` has as (J, I):
/// read in order, written with gaps that stay within a block.
template <typename Put>
void for_transposed(const Matrix& matrix, int rank, const std::vector<double>& from, const Block& block,
                    Put put) {
  const auto step = static_cast<std::size_t>(matrix.local_rows(rank));
  const auto rows = static_cast<std::size_t>(matrix.width(block.row));
  const auto columns = static_cast<std::size_t>(matrix.width(block.column));
  const double* source = &from[matrix.at(rank, block.column, block.row)];
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      put(i, j, source[j + (i * step)]);
    }
  }
}

}  // namespace

Grid Grid::squarest(int ranks) {
  int rows = 1;
  for (int each = 2; each * each <= ranks; ++each) {
    rows = ranks % each == 0 ? each : rows;
  }
  return {rows, ranks / rows};
}

int Matrix::width(int index) const { return std::min(nb, n - (index * nb)); }

int Matrix::local(int place, int places) const {
  int sum = 0;
  for (int index = place; index < blocks(); index += places) {
    sum += width(index);
  }
  return sum;
}

std::size_t Matrix::at(int rank, int row_block, int column_block) const {
  // all blocks before the last one are whole, so that those before this one on its process are
  const auto row = static_cast<std::size_t>(row_block / grid.rows) * static_cast<std::size_t>(nb);
  const auto column = static_cast<std::size_t>(column_block / grid.columns) * static_cast<std::size_t>(nb);
  return row + (column * static_cast<std::size_t>(local_rows(rank)));
}

std::vector<Block> blocks_between(const Matrix& matrix, int from, int to) {
  const Grid& grid = matrix.grid;
  std::vector<Block> list;
  for (int column = grid.column_of(to); column < matrix.blocks(); column += grid.columns) {
    if (column % grid.rows != grid.row_of(from)) {
      continue;
    }
    for (int row = grid.row_of(to); row < matrix.blocks(); row += grid.rows) {
      if (row % grid.columns == grid.column_of(from)) {
        list.push_back({row, column});
      }
    }
  }
  return list;
}

std::size_t elements(const Matrix& matrix, const std::vector<Block>& blocks) {
  std::size_t sum = 0;
  for (const Block& block : blocks) {
    sum += static_cast<std::size_t>(matrix.width(block.row)) *
           static_cast<std::size_t>(matrix.width(block.column));
  }
  return sum;
}

double element(std::uint64_t which, int i, int j) {
  constexpr double kStep = 1.0 / (1U << 20U);
  constexpr std::uint64_t kMask = (1U << 20U) - 1;
  std::uint64_t z = (which << 60U) ^ (static_cast<std::uint64_t>(i) << 30U) ^ static_cast<std::uint64_t>(j);
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;  // SplitMix64's mixing (Steele, Lea and Flood, OOPSLA 2014)
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
  return static_cast<double>((z ^ (z >> 31U)) & kMask) * kStep;
}

void pack_transposed(const Matrix& matrix, int rank, const std::vector<double>& from,
                     const std::vector<Block>& blocks, std::vector<double>& out) {
  double* to = out.data();
  for (const Block& block : blocks) {
    const auto rows = static_cast<std::size_t>(matrix.width(block.row));  // of the transpose
    for_transposed(matrix, rank, from, block,
                   [&](std::size_t i, std::size_t j, double value) { to[i + (j * rows)] = value; });
    to += rows * static_cast<std::size_t>(matrix.width(block.column));
  }
}

void add_transposed(const Matrix& matrix, int rank, const std::vector<double>& from,
                    const std::vector<Block>& blocks, std::vector<double>& to) {
  const auto step = static_cast<std::size_t>(matrix.local_rows(rank));
  for (const Block& block : blocks) {
    double* target = &to[matrix.at(rank, block.row, block.column)];
    for_transposed(matrix, rank, from, block,
                   [&](std::size_t i, std::size_t j, double value) { target[i + (j * step)] += value; });
  }
}

void add_packed(const Matrix& matrix, int rank, const std::vector<double>& packed,
                const std::vector<Block>& blocks, std::vector<double>& to) {
  const auto step = static_cast<std::size_t>(matrix.local_rows(rank));
  const double* source = packed.data();
  for (const Block& block : blocks) {
    const auto rows = static_cast<std::size_t>(matrix.width(block.row));
    const auto columns = static_cast<std::size_t>(matrix.width(block.column));
    double* target = &to[matrix.at(rank, block.row, block.column)];
    for (std::size_t j = 0; j < columns; ++j) {
      for (std::size_t i = 0; i < rows; ++i) {
        target[i + (j * step)] += source[i + (j * rows)];
      }
    }
    source += rows * columns;
  }
}

}  // namespace wulf::mpi
