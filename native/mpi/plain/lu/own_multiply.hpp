#pragma once

#include <vector>

namespace wulf::mpi {

/// The product of matrices in portable code: blocks that caches hold, copied so that they are read in order,
/// and tiles that registers hold (Goto and van de Geijn, 2008). Vectors are as wide as this CPU has them.
class OwnMultiply {
 public:
  OwnMultiply();

  /// C (m x n) -= A (m x k) · B (k x n), column by column.
  void operator()(int m, int n, int k, const double* a, int lda, const double* b, int ldb, double* c,
                  int ldc);

  /// One tile: C -= A · B of `k` columns and rows, copied rows or columns of a tile at a time.
  using Tile = void (*)(int k, const double* a, const double* b, double* c, int ldc);

 private:
  struct Block {
    int rows;
    int columns;
    int inner;
  };
  void copy_a(const Block& block, const double* a, int lda);
  void copy_b(const Block& block, const double* b, int ldb);
  void multiply_block(const Block& block, double* c, int ldc);
  void partial_tile(int rows, int columns, int inner, const double* a, const double* b, double* c, int ldc);

  int rows_;     ///< of a tile
  int columns_;  ///< of a tile
  Tile tile_;
  std::vector<double> a_;
  std::vector<double> b_;
  std::vector<double> rest_;  ///< a tile of which C has a part
};

}  // namespace wulf::mpi
