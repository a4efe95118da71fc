#pragma once

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "mpi/lu/grid.hpp"
#include "mpi/lu/panel.hpp"
#include "mpi/lu/rows.hpp"
#include "mpi/plain/lu/blas.hpp"

namespace wulf::mpi {

/// Where one rank's time went [s].
struct LuTimes {
  double panel = 0;     ///< panels factored
  double exchange = 0;  ///< rows exchanged
  double update = 0;    ///< products of matrices
  double wait = 0;      ///< for panels of other columns of ranks
  double solve = 0;     ///< back-substitution
};

/// What a solution is worth.
struct LuCheck {
  double residual = 0;  ///< HPL's: ‖Ax-b‖ / (ε·(‖A‖·‖x‖ + ‖b‖)·n), all norms the largest (row) sums
  double sum = 0;       ///< of x
  double weighted = 0;  ///< sum of (i+1)/n · x[i]
};

/// A fault that is planted, to see that it is found.
enum class Planted { kNothing, kSingular, kWrong };

/// A x = b for a random matrix, solved by all ranks: right-looking LU with partial pivoting of the matrix
/// with b as its last column, dealt out in blocks over a grid, and back-substitution.
class Lu {
 public:
  /// Collective. Throws std::bad_alloc; require_memory(bytes()) first.
  Lu(const LuGrid& grid, int n, int nb, int lookahead, const Blas& blas);

  /// Bytes that this rank's parts will take.
  [[nodiscard]] static std::uint64_t bytes(const LuGrid& grid, int n, int nb);

  /// The matrix and b anew: element (i, j) depends on seed, i and j alone.
  void fill(std::uint64_t seed, Planted planted);

  /// Collective: L and U in place of the matrix, then x.
  void factor();
  void solve();

  /// Collective: of the solution of the matrix that `seed` makes.
  [[nodiscard]] LuCheck check(std::uint64_t seed);

  /// Collective: the first column that had no pivot; -1 = none.
  [[nodiscard]] int singular() const;
  [[nodiscard]] const LuTimes& times() const { return times_; }

 private:
  void factor_at(int block);
  void step(int block, LuPanel& panel, LuPanel& next);
  void update(const LuPanel& panel, int from, int to, LuPanel* awaited = nullptr);
  void update_columns(const LuPanel& panel, double* u, int ld, int column, int count);
  [[nodiscard]] int piece(LuPanel* awaited, int left) const;
  void subtract_known(int block, int from_row, int to_row);
  void solve_block(int block);
  [[nodiscard]] double* at(int row, int column) {
    return a_.data() + row + (static_cast<std::ptrdiff_t>(column) * ld_);
  }

  const LuGrid& grid_;
  int n_;
  int nb_;
  int lookahead_;
  const Blas& blas_;
  Deal rows_;
  Deal columns_;
  int ld_;
  Doubles a_;
  std::array<LuPanel, 2> panels_;
  LuRows exchange_;
  std::vector<double> partial_;  ///< by local row: b less what the known part of x takes
  std::vector<double> x_;        ///< whole; zero where another column of ranks has it
  int singular_ = -1;
  LuTimes times_;
};

/// Element (i, j) of the random matrix of that seed, in [-1/2, 1/2); column n is b.
[[nodiscard]] double lu_element(std::uint64_t seed, int i, int j);

}  // namespace wulf::mpi
