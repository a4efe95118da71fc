#include "mpi/plain/lu/panel.hpp"

#include <algorithm>
#include <cmath>

namespace wulf::mpi {
namespace {

/// Columns that are factored one after the other: beyond, products of matrices pay.
constexpr int kNarrow = 8;

class Factoring {
 public:
  Factoring(const Panel& panel, const Blas& blas, Agreement& agreement, std::vector<int>& pivots)
      : panel_(panel), blas_(blas), agreement_(agreement), pivots_(pivots), candidate_(panel.width) {}

  /// Columns [from, from + count).
  void factor(int from, int count) {
    if (count <= kNarrow) {
      for (int column = from; column < from + count; ++column) {
        factor_column(from, column);
      }
      return;
    }
    const int left = ((count / 2) + kNarrow - 1) / kNarrow * kNarrow;
    const int right = from + left;
    factor(from, left);
    blas_.solve_lower(left, count - left, panel_.place(from, from), panel_.ld, panel_.place(from, right),
                      panel_.ld);
    blas_.multiply(panel_.rows - right, count - left, left, panel_.place(right, from), panel_.ld,
                   panel_.place(from, right), panel_.ld, panel_.place(right, right), panel_.ld);
    factor(right, count - left);
  }

  [[nodiscard]] int singular() const { return singular_; }

 private:
  /// One column, after those from `from` on, whose effect on it is still to come.
  void factor_column(int from, int column) {
    const int before = column - from;
    double* top = panel_.place(from, column);
    blas_.solve_lower(before, 1, panel_.place(from, from), panel_.ld, top, panel_.ld);
    // NOLINTNEXTLINE(readability-suspicious-call-argument): the row on the diagonal of `column`
    blas_.multiply_vector(panel_.rows - column, before, panel_.place(column, from), panel_.ld, top,
                          panel_.place(column, column));
    offer(column);
    agreement_.best(candidate_);
    if (!(candidate_.magnitude() > 0)) {
      singular_ = singular_ < 0 ? panel_.first + column : singular_;
      pivots_[static_cast<std::size_t>(column)] = panel_.first + column;
      return;
    }
    take(column);
    scale(panel_.place(column + 1, column), panel_.rows - column - 1, *panel_.place(column, column));
  }

  /// Elements by their pivot; by its reciprocal, which is faster, where that is a normal number.
  static void scale(double* elements, int count, double pivot) {
    const double factor = 1.0 / pivot;
    const bool normal = std::isnormal(factor);
    for (int i = 0; i < count; ++i) {
      elements[i] = normal ? elements[i] * factor : elements[i] / pivot;
    }
  }

  /// This process' best candidate.
  void offer(int column) {
    const int begin = panel_.owns_top ? column : panel_.width;
    candidate_.magnitude() = -1;
    candidate_.set_row(panel_.deal.count);
    if (begin >= panel_.rows) {
      return;
    }
    const int row = begin + blas_.largest(panel_.rows - begin, panel_.place(begin, column));
    const double magnitude = std::abs(*panel_.place(row, column));
    if (!std::isfinite(magnitude)) {
      return;  // nothing can be compared with it: all processes have to choose the same
    }
    candidate_.magnitude() = magnitude;
    candidate_.set_row(panel_.global(row));
    for (int j = 0; j < panel_.width; ++j) {
      candidate_.elements()[j] = *panel_.place(row, j);
    }
  }

  /// Exchanges the row on the diagonal with the candidate.
  void take(int column) {
    const int chosen = candidate_.row();
    pivots_[static_cast<std::size_t>(column)] = chosen;
    const bool here = chosen < panel_.first + panel_.width || panel_.deal.owner(chosen) == panel_.deal.place;
    const int row = here ? panel_.local(chosen) : column;
    for (int j = 0; j < panel_.width; ++j) {
      *panel_.place(row, j) = *panel_.place(column, j);
      *panel_.place(column, j) = candidate_.elements()[j];
    }
  }

  const Panel& panel_;
  const Blas& blas_;
  Agreement& agreement_;
  std::vector<int>& pivots_;
  Candidate candidate_;
  int singular_ = -1;
};

}  // namespace

int factor_panel(const Panel& panel, const Blas& blas, Agreement& agreement, std::vector<int>& pivots) {
  Factoring factoring(panel, blas, agreement, pivots);
  factoring.factor(0, panel.width);
  return factoring.singular();
}

}  // namespace wulf::mpi
