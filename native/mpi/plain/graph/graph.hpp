#pragma once

#include <string>
#include <vector>

namespace wulf::mpi {

/// How the tasks of a step need those of the step before. Every rank has one task a step, and each needs its
/// own rank's; patterns say which else (Slaughter et al., Task Bench, SC'20, table 2).
enum class GraphPattern {
  kNone,     ///< no other
  kStencil,  ///< both neighbours in a row
  kFft,      ///< the other end of a butterfly, whose width doubles every step
  kTree,     ///< a binomial tree: to rank 0, then back to all
  kAll,      ///< all
};

/// By its name: none, stencil, fft, tree, all. Throws std::out_of_range for another.
[[nodiscard]] GraphPattern graph_pattern(const std::string& name);

/// What a rank exchanges between two steps.
struct GraphEdges {
  std::vector<int> from;  ///< ranks whose task its next one needs, besides its own; ascending
  std::vector<int> to;    ///< ranks whose next task needs its own; ascending
};

/// A rank's edges after each step, from the first on, until the pattern begins again.
[[nodiscard]] std::vector<GraphEdges> graph_edges(GraphPattern pattern, int rank, int ranks);

}  // namespace wulf::mpi
