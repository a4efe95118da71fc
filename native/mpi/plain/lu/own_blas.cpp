#include <algorithm>
#include <cmath>
#include <cstddef>

#include "mpi/plain/lu/blas.hpp"
#include "mpi/plain/lu/own_multiply.hpp"

namespace wulf::mpi {
namespace {

class OwnBlas : public Blas {
 public:
  void multiply(int m, int n, int k, const double* a, int lda, const double* b, int ldb, double* c,
                int ldc) const override {
    multiply_(m, n, k, a, lda, b, ldb, c, ldc);
  }
  void multiply_vector(int m, int n, const double* a, int lda, const double* x, double* y) const override {
    for (int j = 0; j < n; ++j) {
      const double* column = a + at(0, j, lda);
      for (int i = 0; i < m; ++i) {
        y[i] -= column[i] * x[j];
      }
    }
  }
  [[nodiscard]] int largest(int n, const double* x) const override {
    return static_cast<int>(
        std::max_element(x, x + n, [](double a, double b) { return std::abs(a) < std::abs(b); }) - x);
  }

 private:
  static std::ptrdiff_t at(int i, int j, int ld) { return i + (static_cast<std::ptrdiff_t>(j) * ld); }

  void solve_few(int m, int n, const double* l, int ldl, double* b, int ldb) const override {
    for (int j = 0; j < n; ++j) {
      double* column = b + at(0, j, ldb);
      for (int k = 0; k < m; ++k) {
        for (int i = k + 1; i < m; ++i) {
          column[i] -= l[at(i, k, ldl)] * column[k];
        }
      }
    }
  }

  mutable OwnMultiply multiply_;  ///< its copies of blocks change
};

}  // namespace

std::unique_ptr<Blas> own_blas() { return std::make_unique<OwnBlas>(); }

}  // namespace wulf::mpi
