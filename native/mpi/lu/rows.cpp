#include "mpi/lu/rows.hpp"

#include <algorithm>

namespace wulf::mpi {
namespace {

std::ptrdiff_t offset(int column, int ld) { return static_cast<std::ptrdiff_t>(column) * ld; }

/// How many elements a buffer of U has.
std::size_t one(const LuGrid& grid, int n, int nb) {
  return static_cast<std::size_t>(std::min(n, nb)) *
         static_cast<std::size_t>(grid.deal_columns(n, nb).local());
}

}  // namespace

std::size_t LuRows::elements(const LuGrid& grid, int n, int nb) {
  constexpr std::size_t kBuffers = 3;
  return grid.rows() > 1 ? kBuffers * one(grid, n, nb) : 0;
}

LuRows::LuRows(const LuGrid& grid, int n, int nb)
    : grid_(grid),
      gives_(static_cast<std::size_t>(grid.rows())),
      gets_(static_cast<std::size_t>(grid.rows())),
      counts_(static_cast<std::size_t>(grid.rows())),
      starts_(static_cast<std::size_t>(grid.rows())) {
  if (grid.rows() > 1) {
    packed_ = Doubles(one(grid, n, nb));
    gathered_ = Doubles(one(grid, n, nb));
    u_ = Doubles(one(grid, n, nb));
  }
}

double* LuRows::exchange(const LuPanel& panel, double* a, int ld, int from, int to) {
  plan(panel);
  gather(panel, a, ld, from, to);
  displace(panel, a, ld, from, to);
  const int width = panel.part().width;
  const double* source = gathered_.data();
  for (const std::vector<int>& places : gives_) {
    for (int column = 0; column < to - from; ++column) {
      double* target = u_.data() + offset(column, width);
      for (const int place : places) {
        target[place] = *source++;
      }
    }
  }
  return u_.data();
}

void LuRows::plan(const LuPanel& panel) {
  const Deal& deal = panel.part().deal;
  for (std::size_t rank = 0; rank < gives_.size(); ++rank) {
    gives_[rank].clear();
    gets_[rank].clear();
  }
  for (int place = 0; place < panel.part().width; ++place) {
    const int source = panel.moves().sources[static_cast<std::size_t>(place)];
    gives_[static_cast<std::size_t>(deal.owner(source))].push_back(place);
  }
  for (const Moves::Displaced& each : panel.moves().displaced) {
    gets_[static_cast<std::size_t>(deal.owner(each.to))].push_back({deal.before(each.to), each.from});
  }
}

/// All rows that end in the top block, by the rank that had them, on all ranks.
void LuRows::gather(const LuPanel& panel, const double* a, int ld, int from, int to) {
  std::vector<int> rows;
  for (const int place : gives_[static_cast<std::size_t>(grid_.row())]) {
    rows.push_back(panel.part().deal.before(panel.moves().sources[static_cast<std::size_t>(place)]));
  }
  double* const out = packed_.data();
  std::size_t at = 0;
  for (int column = from; column < to; ++column) {
    for (const int row : rows) {
      out[at++] = a[row + offset(column, ld)];
    }
  }
  int start = 0;
  for (std::size_t rank = 0; rank < gives_.size(); ++rank) {
    counts_[rank] = static_cast<int>(gives_[rank].size()) * (to - from);
    starts_[rank] = start;
    start += counts_[rank];
  }
  MPI_Allgatherv(packed_.data(), counts_[static_cast<std::size_t>(grid_.row())], MPI_DOUBLE, gathered_.data(),
                 counts_.data(), starts_.data(), MPI_DOUBLE, grid_.down());
}

/// The rows that stood in the top block, to where those came from that are now there.
void LuRows::displace(const LuPanel& panel, double* a, int ld, int from, int to) {
  const Panel& part = panel.part();
  const int top = part.deal.before(part.first);
  double* const out = packed_.data();
  std::size_t at = 0;
  int start = 0;
  for (std::size_t rank = 0; rank < gets_.size(); ++rank) {
    counts_[rank] = static_cast<int>(gets_[rank].size()) * (to - from);
    starts_[rank] = start;
    start += counts_[rank];
    for (int column = from; part.owns_top && column < to; ++column) {
      for (const Moves::Displaced& each : gets_[rank]) {
        out[at++] = a[top + each.from + offset(column, ld)];
      }
    }
  }
  const auto mine = static_cast<std::size_t>(grid_.row());
  const int root = part.deal.owner(part.first);
  void* place = u_.data();
  MPI_Scatterv(packed_.data(), counts_.data(), starts_.data(), MPI_DOUBLE,
               part.owns_top ? MPI_IN_PLACE : place, counts_[mine], MPI_DOUBLE, root, grid_.down());
  put_displaced(part.owns_top ? packed_.data() + starts_[mine] : u_.data(), a, ld, from, to);
}

void LuRows::put_displaced(const double* from_top, double* a, int ld, int from, int to) const {
  for (int column = from; column < to; ++column) {
    for (const Moves::Displaced& each : gets_[static_cast<std::size_t>(grid_.row())]) {
      a[each.to + offset(column, ld)] = *from_top++;
    }
  }
}

void exchange_here(const LuPanel& panel, double* at, int ld, int columns) {
  const Moves& moves = panel.moves();
  const int first = panel.part().first;
  std::vector<double> top(moves.sources.size());
  for (int column = 0; column < columns; ++column) {
    double* elements = at + offset(column, ld);
    for (std::size_t i = 0; i < top.size(); ++i) {
      top[i] = elements[moves.sources[i]];
    }
    for (const Moves::Displaced& each : moves.displaced) {
      elements[each.to] = elements[first + each.from];
    }
    std::copy(top.begin(), top.end(), elements + first);
  }
}

}  // namespace wulf::mpi
