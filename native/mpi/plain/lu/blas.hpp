#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace wulf::mpi {

/// Which linear algebra it is.
struct BlasIdentity {
  std::string name = "own";    ///< the file that it was loaded from, or "own"
  std::string version;         ///< name and version in its own words; empty where it has none
  std::optional<int> threads;  ///< how many it says it uses; nothing where it does not say
};

/// What a factorisation needs of linear algebra (Dongarra and others, 1990); all matrices column by column,
/// `ld` elements from one column to the next.
class Blas {
 public:
  Blas() = default;
  explicit Blas(BlasIdentity identity) : identity_(std::move(identity)) {}
  Blas(const Blas&) = delete;
  Blas& operator=(const Blas&) = delete;
  Blas(Blas&&) = delete;
  Blas& operator=(Blas&&) = delete;
  virtual ~Blas() = default;

  /// C (m x n) -= A (m x k) · B (k x n).
  virtual void multiply(int m, int n, int k, const double* a, int lda, const double* b, int ldb, double* c,
                        int ldc) const = 0;
  /// y (m) -= A (m x n) · x (n).
  virtual void multiply_vector(int m, int n, const double* a, int lda, const double* x, double* y) const = 0;
  /// B (m x n) := L⁻¹ · B; L (m x m) is lower triangular, with ones on its diagonal, which are not read. By
  /// halves, so that most of it are products of matrices: of 64 rows OpenBLAS alone solves 10 Gflop/s where
  /// it multiplies 50, and so 17.
  void solve_lower(int m, int n, const double* l, int ldl, double* b, int ldb) const;
  /// The first of the n elements (at least one) with the largest magnitude.
  [[nodiscard]] virtual int largest(int n, const double* x) const = 0;

  [[nodiscard]] const BlasIdentity& identity() const { return identity_; }

 private:
  /// The same for few rows.
  virtual void solve_few(int m, int n, const double* l, int ldl, double* b, int ldb) const = 0;

  BlasIdentity identity_;
};

/// Portable code: slower than any library made for the CPU.
[[nodiscard]] std::unique_ptr<Blas> own_blas();

/// A library loaded at run time, with so many threads: `wanted` as a path or a name that the dynamic linker
/// finds; nothing = the first one there is of those commonly installed, or else own_blas(); "own" = that.
/// Throws bad-parameter with the linker's words where `wanted` can't be loaded, or is no BLAS.
[[nodiscard]] std::unique_ptr<Blas> load_blas(const std::optional<std::string>& wanted, int threads);

}  // namespace wulf::mpi
