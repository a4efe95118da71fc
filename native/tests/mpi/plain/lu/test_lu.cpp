#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

#include "core/json/error.hpp"
#include "mpi/plain/lu/blas.hpp"
#include "mpi/plain/lu/deal.hpp"
#include "mpi/plain/lu/doubles.hpp"
#include "mpi/plain/lu/moves.hpp"
#include "mpi/plain/lu/panel.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::mpi;

TEST_CASE("indices that are dealt out in blocks") {
  for (const int count : {0, 1, 7, 24, 37}) {
    for (const int nb : {1, 4, 40}) {
      for (const int places : {1, 2, 3}) {
        int sum = 0;
        for (int place = 0; place < places; ++place) {
          const Deal deal{count, nb, places, place};
          int here = 0;
          for (int global = 0; global < count; ++global) {
            CHECK(deal.before(global) == here);
            if (deal.owner(global) == place) {
              CHECK(deal.global(here) == global);
              ++here;
            }
          }
          CHECK(deal.local() == here);
          sum += here;
        }
        CHECK(sum == count);
      }
    }
  }
}

TEST_CASE("a panel's exchanges at once are those one after the other") {
  constexpr int kFirst = 3;
  constexpr int kRows = 12;
  const std::vector<std::vector<int>> cases{{3, 4, 5}, {11, 11, 11}, {5, 5, 5}, {9, 10, 9}, {4, 11, 5}, {7}};
  for (const std::vector<int>& pivots : cases) {
    std::vector<int> rows(kRows);
    std::iota(rows.begin(), rows.end(), 0);
    for (std::size_t i = 0; i < pivots.size(); ++i) {
      std::swap(rows[kFirst + i], rows[static_cast<std::size_t>(pivots[i])]);
    }
    std::vector<int> moved(kRows);
    std::iota(moved.begin(), moved.end(), 0);
    const Moves moves = net_moves(kFirst, pivots);
    for (std::size_t i = 0; i < pivots.size(); ++i) {
      moved[kFirst + i] = moves.sources[i];
    }
    for (const Moves::Displaced& each : moves.displaced) {
      moved[static_cast<std::size_t>(each.to)] = kFirst + each.from;
    }
    CHECK(moved == rows);
  }
}

double element(int i, int j) { return std::sin(1.0 + (13.0 * i) + (7.0 * j * j) + (3.0 * i * j)); }

/// A panel of that many rows and columns, alone, filled.
struct Filled {
  Filled(int rows, int columns, double (*value)(int, int))
      : memory(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)),
        part{memory.data(), rows, rows, columns, 0, true, {rows, columns, 1, 0}} {
    for (int j = 0; j < columns; ++j) {
      for (int i = 0; i < rows; ++i) {
        *part.place(i, j) = value(i, j);
      }
    }
  }
  std::vector<double> memory;
  Panel part;
};

/// The largest difference between rows that were exchanged and L · U.
double error_of(const Panel& part, const std::vector<int>& pivots) {
  std::vector<int> rows(static_cast<std::size_t>(part.rows));
  std::iota(rows.begin(), rows.end(), 0);
  for (std::size_t i = 0; i < pivots.size(); ++i) {
    std::swap(rows[i], rows[static_cast<std::size_t>(pivots[i])]);
  }
  double most = 0;
  for (int i = 0; i < part.rows; ++i) {
    for (int j = 0; j < part.width; ++j) {
      double sum = i <= j ? *part.place(i, j) : 0;
      for (int k = 0; k < std::min(i, j + 1); ++k) {
        sum += *part.place(i, k) * *part.place(k, j);
      }
      most = std::max(most, std::abs(sum - element(rows[static_cast<std::size_t>(i)], j)));
    }
  }
  return most;
}

TEST_CASE("a panel is factored with partial pivoting") {
  const auto blas = own_blas();
  for (const int columns : {1, 3, 8, 9, 20, 64}) {
    for (const int more : {0, 1, 50}) {
      const Filled filled(columns + more, columns, element);
      std::vector<int> pivots(static_cast<std::size_t>(columns));
      Alone alone;
      CHECK(factor_panel(filled.part, *blas, alone, pivots) == -1);
      CHECK(error_of(filled.part, pivots) < 1e-12);
      for (int j = 0; j < columns; ++j) {
        for (int i = j + 1; i < columns + more; ++i) {
          CHECK(std::abs(*filled.part.place(i, j)) <= 1.0);  // what partial pivoting is for
        }
      }
    }
  }
}

TEST_CASE("a panel without a pivot says in which column") {
  const auto blas = own_blas();
  const Filled filled(30, 12, [](int i, int j) { return j == 9 ? 0.0 : element(i, j); });
  std::vector<int> pivots(12);
  Alone alone;
  CHECK(factor_panel(filled.part, *blas, alone, pivots) == 9);
  CHECK(pivots[9] == 9);
}

TEST_CASE("the better candidate does not depend on who is asked") {
  const std::vector<double> low{2.0, 4.0};
  const std::vector<double> upper{2.0, 3.0};
  const std::vector<double> none{-1.0, 90.0};
  CHECK(Candidate::is_better(upper.data(), low.data()));
  CHECK_FALSE(Candidate::is_better(low.data(), upper.data()));
  CHECK_FALSE(Candidate::is_better(none.data(), low.data()));
}

TEST_CASE("own linear algebra is that of the textbook") {
  const auto blas = own_blas();
  for (const int m : {1, 5, 8, 33, 100}) {
    for (const int n : {1, 4, 7, 30}) {
      for (const int k : {1, 6, 64, 300}) {
        const auto at = [](int i, int j, int ld) {
          return static_cast<std::size_t>(i) + (static_cast<std::size_t>(j) * static_cast<std::size_t>(ld));
        };
        const int lda = m + 3;
        std::vector<double> a(at(0, k, lda));
        std::vector<double> b(at(0, n, k));
        std::vector<double> c(at(0, n, lda), 0.5);
        for (std::size_t i = 0; i < a.size(); ++i) {
          a[i] = element(static_cast<int>(i), 1);
        }
        for (std::size_t i = 0; i < b.size(); ++i) {
          b[i] = element(static_cast<int>(i), 2);
        }
        blas->multiply(m, n, k, a.data(), lda, b.data(), k, c.data(), lda);
        double most = 0;
        for (int j = 0; j < n; ++j) {
          for (int i = 0; i < lda; ++i) {
            double sum = 0.5;
            for (int l = 0; i < m && l < k; ++l) {
              sum -= a[at(i, l, lda)] * b[at(l, j, k)];
            }
            most = std::max(most, std::abs(sum - c[at(i, j, lda)]));
          }
        }
        INFO(m << " x " << n << " x " << k);
        CHECK(most < 1e-12 * k);
      }
    }
  }
}

/// What is said of a library that is none.
std::string refused(const std::string& name) {
  try {
    return "loaded: " + load_blas(name, 1)->identity().name;
  } catch (const wulf::Error& error) {
    return error.code() + ": " + error.what();
  }
}

TEST_CASE("a BLAS that is not there") {
  const std::string absent = refused("/no/such/libblas.so");
  CHECK(absent.find("bad-parameter: '/no/such/libblas.so' can't be loaded") == 0);
  CHECK(refused("libc.so.6").find("bad-parameter: 'libc.so.6' has no dgemm_") == 0);
  CHECK(load_blas("own", 1)->identity().name == "own");
}

TEST_CASE("columns do not begin whole pages apart") {
  CHECK(leading_dimension(1) == 8);
  CHECK(leading_dimension(4000) == 4000);
  CHECK(leading_dimension(4095) == 4104);
  CHECK(leading_dimension(1024) == 1032);
}

}  // namespace
