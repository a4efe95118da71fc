#pragma once

#include <vector>

namespace wulf::mpi {

/// What a panel's exchanges of rows amount to, once all were made.
struct Moves {
  struct Displaced {
    int to;    ///< row below the panel's top block
    int from;  ///< row of the top block, from 0, that ends there
  };
  std::vector<int> sources;  ///< by row of the top block: the row that ends there
  std::vector<Displaced> displaced;
};

/// `pivots[i]` is the row that was exchanged with row `first` + i, one after the other; none lies above the
/// row with which it is exchanged.
[[nodiscard]] Moves net_moves(int first, const std::vector<int>& pivots);

}  // namespace wulf::mpi
