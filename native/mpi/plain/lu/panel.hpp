#pragma once

#include <cstddef>
#include <vector>

#include "mpi/plain/lu/blas.hpp"
#include "mpi/plain/lu/deal.hpp"

namespace wulf::mpi {

/// A process' part of a panel: `width` columns of the matrix from row and column `first` on, column by
/// column. The first `width` rows are the top block, of which every process of the panel has a copy; then
/// come those rows below it that are the process' own.
struct Panel {
  double* at = nullptr;
  int ld = 1;
  int rows = 0;  ///< the top block's and its own
  int width = 0;
  int first = 0;
  bool owns_top = true;  ///< whether the top block's rows are its own, too
  Deal deal;             ///< of the matrix' rows

  [[nodiscard]] double* place(int row, int column) const {
    return at + row + (static_cast<std::ptrdiff_t>(column) * ld);
  }
  /// The row of the matrix that is row `row` of the part.
  [[nodiscard]] int global(int row) const {
    return row < width ? first + row : deal.global(deal.before(first + width) + row - width);
  }
  /// The part's row that is row `global` of the matrix, which lies here or in the top block.
  [[nodiscard]] int local(int global) const {
    return global < first + width ? global - first : width + deal.before(global) - deal.before(first + width);
  }
};

/// A row that may become a column's pivot: its elements within the panel, and before them magnitude and
/// number.
class Candidate {
 public:
  explicit Candidate(int width) : words_(static_cast<std::size_t>(width) + kHead) {}

  /// Its pivot's magnitude; negative where a process has no row to offer.
  [[nodiscard]] double& magnitude() { return words_[0]; }
  [[nodiscard]] int row() const { return static_cast<int>(words_[1]); }
  void set_row(int row) { words_[1] = row; }
  [[nodiscard]] double* elements() { return words_.data() + kHead; }
  [[nodiscard]] std::vector<double>& words() { return words_; }

  static constexpr std::size_t kHead = 2;
  /// Whether candidate `a` is to be taken rather than `b`, both as words(). On the same magnitude the upper
  /// row wins, so that the pivots do not depend on the grid.
  [[nodiscard]] static bool is_better(const double* a, const double* b) {
    return a[0] > b[0] || (a[0] == b[0] && a[1] < b[1]);
  }

 private:
  std::vector<double> words_;
};

/// How the processes that have a panel agree on a pivot.
class Agreement {
 public:
  Agreement() = default;
  Agreement(const Agreement&) = delete;
  Agreement& operator=(const Agreement&) = delete;
  Agreement(Agreement&&) = delete;
  Agreement& operator=(Agreement&&) = delete;
  virtual ~Agreement() = default;

  /// In: the best of this process. Out: the best of all.
  virtual void best(Candidate& candidate) = 0;
};

/// One process has the whole panel.
class Alone : public Agreement {
 public:
  void best(Candidate& /*candidate*/) override {}
};

/// Factors a panel into L and U with partial pivoting, recursively by columns (Toledo, 1997; Gustavson,
/// 1997). `pivots[i]` becomes the row that was exchanged with row first + i. Returns the first column of the
/// matrix without a pivot other than 0, which is left as it is; -1 where there is none.
[[nodiscard]] int factor_panel(const Panel& panel, const Blas& blas, Agreement& agreement,
                               std::vector<int>& pivots);

}  // namespace wulf::mpi
