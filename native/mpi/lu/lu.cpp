#include "mpi/lu/lu.hpp"

#include <algorithm>

#include "core/time/clock.hpp"

namespace wulf::mpi {
namespace {

/// Columns at least that are updated before the next panel is asked for: for each piece the matrix product
/// copies its other factor anew.
constexpr int kPiece = 96;

/// Adds the time of a block to a sum.
class Stopwatch {
 public:
  explicit Stopwatch(double& sum) : sum_(sum) {}
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  Stopwatch(Stopwatch&&) = delete;
  Stopwatch& operator=(Stopwatch&&) = delete;
  ~Stopwatch() { sum_ += to_seconds(now() - start_); }

 private:
  double& sum_;
  Nanoseconds start_ = now();
};

}  // namespace

std::uint64_t Lu::bytes(const LuGrid& grid, int n, int nb) {
  const auto rows = static_cast<std::uint64_t>(leading_dimension(grid.deal_rows(n, nb).local()));
  const auto columns = static_cast<std::uint64_t>(grid.deal_columns(n, nb).local());
  const std::uint64_t vectors = (4 * rows) + static_cast<std::uint64_t>(n);  // with check()'s
  return sizeof(double) *
         ((rows * columns) + (2 * LuPanel::elements(grid, n, nb)) + LuRows::elements(grid, n, nb) + vectors);
}

Lu::Lu(const LuGrid& grid, int n, int nb, int lookahead, const Blas& blas)
    : grid_(grid),
      n_(n),
      nb_(nb),
      lookahead_(lookahead),
      blas_(blas),
      rows_(grid.deal_rows(n, nb)),
      columns_(grid.deal_columns(n, nb)),
      ld_(leading_dimension(rows_.local())),
      a_(static_cast<std::size_t>(ld_) * static_cast<std::size_t>(columns_.local())),
      panels_{LuPanel(grid, n, nb), LuPanel(grid, n, nb)},
      exchange_(grid, n, nb),
      partial_(static_cast<std::size_t>(ld_)),
      x_(static_cast<std::size_t>(n)) {}

void Lu::factor() {
  singular_ = -1;
  times_ = {};
  const int blocks = (n_ + nb_ - 1) / nb_;
  for (int block = 0; block < blocks; ++block) {
    LuPanel& panel = panels_.at(static_cast<std::size_t>(block % 2));
    if (block == 0 || lookahead_ == 0) {
      factor_at(block);
    }
    {
      const Stopwatch watch(times_.wait);
      panel.arrive();
    }
    step(block, panel, panels_.at(static_cast<std::size_t>((block + 1) % 2)));
  }
}

/// The panel's own ranks factor it; it is on its way to the others.
void Lu::factor_at(int block) {
  LuPanel& panel = panels_.at(static_cast<std::size_t>(block % 2));
  panel.begin(block);
  const int column = block * nb_;
  if (columns_.owner(column) == columns_.place) {
    const Stopwatch watch(times_.panel);
    const int singular = panel.factor(at(rows_.before(column), columns_.before(column)), ld_, blas_);
    singular_ = singular_ < 0 ? singular : singular_;
  }
  const Stopwatch watch(times_.wait);
  panel.hand_on();
}

/// All columns right of a panel that is here; with look-ahead those of the next panel first, which is then
/// factored and under way while the others are updated.
void Lu::step(int block, LuPanel& panel, LuPanel& next) {
  const int end = panel.part().first + panel.part().width;
  int from = columns_.before(end);
  if (lookahead_ > 0 && end < n_) {
    if (columns_.owner(end) == columns_.place) {
      const int to = columns_.before(std::min(end + nb_, n_));
      update(panel, from, to);
      from = to;
    }
    factor_at(block + 1);
    update(panel, from, columns_.local(), &next);
    return;
  }
  update(panel, from, columns_.local());
}

/// How many of the columns that are left to update next: all of them where nothing is awaited any more.
int Lu::piece(LuPanel* awaited, int left) const {
  return awaited == nullptr || awaited->pump() ? left : std::min(left, std::max(nb_, kPiece));
}

/// Local columns [from, to): the pivots' exchanges, U, and what L and U take from the rows below. Between
/// pieces, the panel that is awaited is asked for.
void Lu::update(const LuPanel& panel, int from, int to, LuPanel* awaited) {
  const Panel& part = panel.part();
  if (from >= to) {
    return;
  }
  double* u = nullptr;
  if (grid_.rows() > 1) {
    const Stopwatch watch(times_.exchange);
    u = exchange_.exchange(panel, a_.data(), ld_, from, to);
  }
  for (int column = from; column < to;) {
    const int count = piece(awaited, to - column);
    if (u != nullptr) {
      update_columns(panel, u + (static_cast<std::ptrdiff_t>(column - from) * part.width), part.width, column,
                     count);
    } else {
      {
        const Stopwatch watch(times_.exchange);
        exchange_here(panel, at(0, column), ld_, count);
      }
      update_columns(panel, at(part.first, column), ld_, column, count);
    }
    column += count;
  }
}

/// `count` local columns from `column` on, whose rows of the top block are `u`.
void Lu::update_columns(const LuPanel& panel, double* u, int ld, int column, int count) {
  const Stopwatch watch(times_.update);
  const Panel& part = panel.part();
  blas_.solve_lower(part.width, count, part.at, part.ld, u, ld);
  for (int j = 0; grid_.rows() > 1 && part.owns_top && j < count; ++j) {
    std::copy_n(u + (static_cast<std::ptrdiff_t>(j) * ld), part.width,
                at(rows_.before(part.first), column + j));
  }
  const int below = rows_.before(part.first + part.width);
  if (panel.rows_below() > 0) {
    blas_.multiply(panel.rows_below(), count, part.width, panel.below(), part.ld, u, ld, at(below, column),
                   ld_);
  }
}

int Lu::singular() const {
  constexpr int kNone = 1 << 30;
  int first = singular_ < 0 ? kNone : singular_;
  MPI_Allreduce(MPI_IN_PLACE, &first, 1, MPI_INT, MPI_MIN, grid_.all());
  return first == kNone ? -1 : first;
}

}  // namespace wulf::mpi
