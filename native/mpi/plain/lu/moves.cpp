#include "mpi/plain/lu/moves.hpp"

#include <cstddef>
#include <map>
#include <numeric>

namespace wulf::mpi {

Moves net_moves(int first, const std::vector<int>& pivots) {
  const int width = static_cast<int>(pivots.size());
  Moves moves;
  moves.sources.resize(pivots.size());
  std::iota(moves.sources.begin(), moves.sources.end(), first);
  std::map<int, int> below;  // row below the top block → the row that is there now
  for (std::size_t i = 0; i < pivots.size(); ++i) {
    const int pivot = pivots[i];
    int& there = pivot < first + width ? moves.sources[static_cast<std::size_t>(pivot - first)]
                                       : below.try_emplace(pivot, pivot).first->second;
    std::swap(moves.sources[i], there);
  }
  for (const auto& [to, from] : below) {
    moves.displaced.push_back({to, from - first});  // rows of the top block alone are ever put below it
  }
  return moves;
}

}  // namespace wulf::mpi
