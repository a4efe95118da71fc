#include "mpi/plain/lu/own_multiply.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace wulf::mpi {
namespace {

// At -O2 GCC leaves loops of few rounds as they are, and tiles would lie in memory.
#ifdef __clang__
#define WULF_UNROLLED _Pragma("unroll")
#else
#define WULF_UNROLLED _Pragma("GCC unroll 32")
#endif

/// Of A's copy (half of a common second-level cache), B's copy, and both.
constexpr int kRows = 192;
constexpr int kColumns = 1024;
constexpr int kInner = 256;

std::ptrdiff_t at(int row, int column, int ld) { return row + (static_cast<std::ptrdiff_t>(column) * ld); }

/// kVectors vectors of kWide rows, kAcross columns.
template <int kWide, int kVectors, int kAcross>
[[gnu::always_inline]] inline void tile(int k, const double* a, const double* b, double* c, int ldc) {
  using Vector [[gnu::vector_size(kWide * sizeof(double))]] = double;
  Vector sums[kAcross][kVectors] = {};  // NOLINT: registers
  for (int p = 0; p < k; ++p) {
    Vector rows[kVectors];  // NOLINT: registers
    std::memcpy(&rows, a, sizeof rows);
    WULF_UNROLLED
    for (int j = 0; j < kAcross; ++j) {
      WULF_UNROLLED
      for (int i = 0; i < kVectors; ++i) {
        sums[j][i] += rows[i] * b[j];
      }
    }
    a += std::ptrdiff_t{kWide} * kVectors;
    b += kAcross;
  }
  WULF_UNROLLED
  for (int j = 0; j < kAcross; ++j) {
    double* column = c + at(0, j, ldc);
    Vector there[kVectors];  // NOLINT: registers
    std::memcpy(&there, column, sizeof there);
    WULF_UNROLLED
    for (int i = 0; i < kVectors; ++i) {
      there[i] -= sums[j][i];
    }
    std::memcpy(column, &there, sizeof there);
  }
}

struct MultiplyKind {
  int rows;
  int columns;
  OwnMultiply::Tile tile;
};

void tile_128(int k, const double* a, const double* b, double* c, int ldc) { tile<2, 2, 4>(k, a, b, c, ldc); }

#ifdef __x86_64__
[[gnu::target("avx2,fma")]] void tile_256(int k, const double* a, const double* b, double* c, int ldc) {
  tile<4, 2, 6>(k, a, b, c, ldc);
}

[[gnu::target("avx512f")]] void tile_512(int k, const double* a, const double* b, double* c, int ldc) {
  tile<8, 3, 8>(k, a, b, c, ldc);
}

MultiplyKind kind() {
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f")) {
    return {24, 8, tile_512};
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    return {8, 6, tile_256};
  }
  return {4, 4, tile_128};
}
#else
MultiplyKind kind() { return {4, 4, tile_128}; }
#endif

int rounded(int count, int step) { return (count + step - 1) / step * step; }

}  // namespace

OwnMultiply::OwnMultiply() {
  const MultiplyKind chosen = kind();
  rows_ = chosen.rows;
  columns_ = chosen.columns;
  tile_ = chosen.tile;
  a_.resize(static_cast<std::size_t>(rounded(kRows, rows_)) * kInner);
  b_.resize(static_cast<std::size_t>(rounded(kColumns, columns_)) * kInner);
  rest_.resize(static_cast<std::size_t>(rows_) * static_cast<std::size_t>(columns_));
}

void OwnMultiply::operator()(int m, int n, int k, const double* a, int lda, const double* b, int ldb,
                             double* c, int ldc) {
  for (int j = 0; j < n; j += kColumns) {
    for (int p = 0; p < k; p += kInner) {
      const int columns = std::min(kColumns, n - j);
      const int inner = std::min(kInner, k - p);
      copy_b({0, columns, inner}, b + at(p, j, ldb), ldb);
      for (int i = 0; i < m; i += kRows) {
        const Block block{std::min(kRows, m - i), columns, inner};
        copy_a(block, a + at(i, p, lda), lda);
        multiply_block(block, c + at(i, j, ldc), ldc);
      }
    }
  }
}

/// Rows of a tile next to each other, column after column; the last tile filled up with zeroes.
void OwnMultiply::copy_a(const Block& block, const double* a, int lda) {
  double* to = a_.data();
  for (int i = 0; i < block.rows; i += rows_) {
    const int count = std::min(rows_, block.rows - i);
    for (int p = 0; p < block.inner; ++p) {
      std::copy_n(a + at(i, p, lda), count, to);
      std::fill(to + count, to + rows_, 0.0);
      to += rows_;
    }
  }
}

/// Columns of a tile next to each other, row after row.
void OwnMultiply::copy_b(const Block& block, const double* b, int ldb) {
  double* to = b_.data();
  for (int j = 0; j < block.columns; j += columns_) {
    const int count = std::min(columns_, block.columns - j);
    for (int p = 0; p < block.inner; ++p) {
      for (int each = 0; each < columns_; ++each) {
        to[each] = each < count ? b[at(p, j + each, ldb)] : 0.0;
      }
      to += columns_;
    }
  }
}

void OwnMultiply::multiply_block(const Block& block, double* c, int ldc) {
  for (int j = 0; j < block.columns; j += columns_) {
    const double* b = b_.data() + at(0, j, block.inner);
    for (int i = 0; i < block.rows; i += rows_) {
      const double* a = a_.data() + at(0, i, block.inner);
      const int rows = std::min(rows_, block.rows - i);
      const int columns = std::min(columns_, block.columns - j);
      double* there = c + at(i, j, ldc);
      if (rows == rows_ && columns == columns_) {
        tile_(block.inner, a, b, there, ldc);
      } else {
        partial_tile(rows, columns, block.inner, a, b, there, ldc);
      }
    }
  }
}

/// A tile that reaches beyond C: beside it, and then what belongs to C.
void OwnMultiply::partial_tile(int rows, int columns, int inner, const double* a, const double* b, double* c,
                               int ldc) {
  std::fill(rest_.begin(), rest_.end(), 0.0);
  tile_(inner, a, b, rest_.data(), rows_);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) {
      c[at(i, j, ldc)] += rest_[static_cast<std::size_t>(at(i, j, rows_))];
    }
  }
}

}  // namespace wulf::mpi
