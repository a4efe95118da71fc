#include "mpi/plain/lu/block_cyclic.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::mpi;

/// Element (i, j) of the whole matrix where a rank keeps it.
double& whole(const Matrix& matrix, std::vector<std::vector<double>>& parts, int i, int j) {
  const Block block{i / matrix.nb, j / matrix.nb};
  const int rank =
      (block.row % matrix.grid.rows * matrix.grid.columns) + (block.column % matrix.grid.columns);
  const std::size_t at =
      matrix.at(rank, block.row, block.column) + static_cast<std::size_t>(i % matrix.nb) +
      (static_cast<std::size_t>(j % matrix.nb) * static_cast<std::size_t>(matrix.local_rows(rank)));
  return parts[static_cast<std::size_t>(rank)].at(at);
}

std::vector<std::vector<double>> filled(const Matrix& matrix, std::uint64_t which) {
  std::vector<std::vector<double>> parts;
  parts.reserve(static_cast<std::size_t>(matrix.grid.size()));
  for (int rank = 0; rank < matrix.grid.size(); ++rank) {
    parts.emplace_back(static_cast<std::size_t>(matrix.local_rows(rank)) *
                       static_cast<std::size_t>(matrix.local_columns(rank)));
  }
  for (int i = 0; i < matrix.n; ++i) {
    for (int j = 0; j < matrix.n; ++j) {
      whole(matrix, parts, i, j) = element(which, i, j);
    }
  }
  return parts;
}

TEST_CASE("the squarest grid") {
  CHECK(Grid::squarest(1).rows == 1);
  CHECK(Grid::squarest(12).rows == 3);
  CHECK(Grid::squarest(12).columns == 4);
  CHECK(Grid::squarest(16).rows == 4);
  CHECK(Grid::squarest(7).columns == 7);
}

TEST_CASE("the transpose is the same on every grid, for every size of blocks") {
  for (const Grid grid : {Grid{1, 1}, Grid{1, 3}, Grid{3, 1}, Grid{2, 2}, Grid{2, 3}, Grid{4, 6}}) {
    for (const int n : {1, 7, 24, 37}) {
      for (const int nb : {1, 4, 5, 40}) {
        const Matrix matrix{n, nb, grid};
        const auto a = filled(matrix, 1);
        auto c = filled(matrix, 2);
        for (int from = 0; from < grid.size(); ++from) {
          for (int to = 0; to < grid.size(); ++to) {
            const std::vector<Block> blocks = blocks_between(matrix, from, to);
            if (from == to) {
              const auto own = static_cast<std::size_t>(from);
              add_transposed(matrix, from, a[own], blocks, c[own]);
              continue;
            }
            std::vector<double> packed(elements(matrix, blocks));
            pack_transposed(matrix, from, a[static_cast<std::size_t>(from)], blocks, packed);
            add_packed(matrix, to, packed, blocks, c[static_cast<std::size_t>(to)]);
          }
        }
        int wrong = 0;
        for (int i = 0; i < n; ++i) {
          for (int j = 0; j < n; ++j) {
            wrong += whole(matrix, c, i, j) != element(2, i, j) + element(1, j, i) ? 1 : 0;
          }
        }
        INFO(grid.rows << "x" << grid.columns << " n " << n << " nb " << nb);
        CHECK(wrong == 0);
      }
    }
  }
}

}  // namespace
