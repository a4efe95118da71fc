#include <algorithm>
#include <cmath>
#include <limits>

#include "core/time/clock.hpp"
#include "mpi/lu/lu.hpp"

namespace wulf::mpi {
namespace {

std::uint64_t mixed(std::uint64_t z) {
  z = (z ^ (z >> 30U)) * 0xBF58476D1CE4E5B9;  // SplitMix64's mixing (Steele, Lea and Flood, OOPSLA 2014)
  z = (z ^ (z >> 27U)) * 0x94D049BB133111EB;
  return z ^ (z >> 31U);
}

/// What all elements of a column have in common.
std::uint64_t column_key(std::uint64_t seed, int j) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;
  return mixed(seed + kGolden) ^ (static_cast<std::uint64_t>(j) << 32U);
}

double element_of(std::uint64_t key, int i) {
  constexpr double kStep = 0x1p-53;
  return (static_cast<double>(mixed(key ^ static_cast<std::uint64_t>(i)) >> 11U) * kStep) - 0.5;
}

/// The largest magnitude; infinity where something is no number.
double largest(const std::vector<double>& values, std::size_t count) {
  double most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double magnitude = std::abs(values[i]);
    most = std::isnan(magnitude) ? std::numeric_limits<double>::infinity() : std::max(most, magnitude);
  }
  return most;
}

double largest_of_all(double value, MPI_Comm comm) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_MAX, comm);
  return value;
}

}  // namespace

double lu_element(std::uint64_t seed, int i, int j) { return element_of(column_key(seed, j), i); }

void Lu::fill(std::uint64_t seed, Planted planted) {
  for (int column = 0; column < columns_.local(); ++column) {
    const int j = columns_.global(column);
    const std::uint64_t key = column_key(seed, j);
    const bool empty = planted == Planted::kSingular && j == n_ / 2;
    for (int row = 0; row < rows_.local(); ++row) {
      *at(row, column) = empty ? 0.0 : element_of(key, rows_.global(row));
    }
  }
  if (planted == Planted::kWrong && rows_.place == 0 && columns_.place == 0) {
    *at(0, 0) += 1;
  }
}

/// Local rows of [from_row, to_row) of the matrix, less what block `block` of x takes from them.
void Lu::subtract_known(int block, int from_row, int to_row) {
  const int column = block * nb_;
  const int from = rows_.before(from_row);
  const int count = rows_.before(to_row) - from;
  if (columns_.owner(column) == columns_.place && count > 0) {
    blas_.multiply_vector(count, std::min(nb_, n_ - column), at(from, columns_.before(column)), ld_,
                          &x_[static_cast<std::size_t>(column)], &partial_[static_cast<std::size_t>(from)]);
  }
}

/// The column of ranks that has the block on the diagonal learns its part of x.
void Lu::solve_block(int block) {
  const int first = block * nb_;
  const int width = std::min(nb_, n_ - first);
  double* x = &x_[static_cast<std::size_t>(first)];
  const int owner = columns_.owner(first);
  const bool column = owner == columns_.place;
  if (rows_.owner(first) == rows_.place) {
    const double* mine = &partial_[static_cast<std::size_t>(rows_.before(first))];
    MPI_Reduce(mine, x, width, MPI_DOUBLE, MPI_SUM, owner, grid_.across());
    for (int j = width - 1; column && j >= 0; --j) {
      const double* u = at(rows_.before(first), columns_.before(first) + j);
      x[j] /= u[j];
      for (int i = 0; i < j; ++i) {
        x[i] -= u[i] * x[j];
      }
    }
  }
  if (column) {
    MPI_Bcast(x, width, MPI_DOUBLE, rows_.owner(first), grid_.down());
  }
}

/// From the last block to the first. What the next one needs comes first, the rest while others solve it.
void Lu::solve() {
  const Nanoseconds start = now();
  std::fill(x_.begin(), x_.end(), 0.0);
  std::fill(partial_.begin(), partial_.end(), 0.0);
  if (columns_.owner(n_) == columns_.place) {
    std::copy_n(at(0, columns_.before(n_)), rows_.local(), partial_.begin());
  }
  const int blocks = (n_ + nb_ - 1) / nb_;
  for (int block = blocks - 1; block >= 0; --block) {
    solve_block(block);
    if (block + 1 < blocks) {
      subtract_known(block + 1, 0, block * nb_);
    }
    if (block > 0) {
      subtract_known(block, (block - 1) * nb_, block * nb_);
    }
  }
  times_.solve = to_seconds(now() - start);
}

LuCheck Lu::check(std::uint64_t seed) {
  if (rows_.place != 0) {
    std::fill(x_.begin(), x_.end(), 0.0);  // each row of ranks has the same
  }
  MPI_Allreduce(MPI_IN_PLACE, x_.data(), n_, MPI_DOUBLE, MPI_SUM, grid_.all());
  const auto local = static_cast<std::size_t>(rows_.local());
  std::vector<double> rest(local);
  std::vector<double> sums(local);
  std::vector<double> b(local);
  for (int column = 0; column < columns_.local(); ++column) {
    const int j = columns_.global(column);
    const std::uint64_t key = column_key(seed, j);
    const double x = j < n_ ? x_[static_cast<std::size_t>(j)] : 0.0;
    for (std::size_t row = 0; row < local; ++row) {
      const double element = element_of(key, rows_.global(static_cast<int>(row)));
      rest[row] += j < n_ ? element * x : -element;
      sums[row] += j < n_ ? std::abs(element) : 0.0;
      b[row] += j < n_ ? 0.0 : element;
    }
  }
  for (std::vector<double>* each : {&rest, &sums, &b}) {
    MPI_Allreduce(MPI_IN_PLACE, each->data(), static_cast<int>(local), MPI_DOUBLE, MPI_SUM, grid_.across());
  }
  const double error = largest_of_all(largest(rest, local), grid_.down());
  const double norm_a = largest_of_all(largest(sums, local), grid_.down());
  const double norm_b = largest_of_all(largest(b, local), grid_.down());
  const double norm_x = largest(x_, x_.size());
  constexpr double kEpsilon = 0x1p-53;  // of HPL_pdlamch: relative machine precision, with rounding
  LuCheck check;
  check.residual = error / (kEpsilon * ((norm_a * norm_x) + norm_b) * n_);
  for (int i = 0; i < n_; ++i) {
    check.sum += x_[static_cast<std::size_t>(i)];
    check.weighted += (i + 1.0) / n_ * x_[static_cast<std::size_t>(i)];
  }
  return check;
}

}  // namespace wulf::mpi
