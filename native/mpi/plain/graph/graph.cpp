#include "mpi/plain/graph/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

namespace wulf::mpi {
namespace {

/// The least n above 0 with 2^n >= ranks.
int levels_of(int ranks) {
  int levels = 1;
  while ((1 << levels) < ranks) {
    ++levels;
  }
  return levels;
}

int period_of(GraphPattern pattern, int ranks) {
  switch (pattern) {
    case GraphPattern::kFft:
      return levels_of(ranks);
    case GraphPattern::kTree:
      return 2 * levels_of(ranks);
    default:
      return 1;
  }
}

/// The one that a rank needs of a tree: on the way up the right half's first rank, on the way down the
/// left's.
int tree_input(int step, int rank, int levels) {
  const bool up = step < levels;
  const int half = 1 << (up ? step : (2 * levels) - 1 - step);
  const int place = rank % (2 * half);
  if (place != (up ? 0 : half)) {
    return -1;
  }
  return up ? rank + half : rank - half;
}

/// The ranks that `rank` may need after a step; those that there aren't are among them.
std::vector<int> wanted(GraphPattern pattern, int step, int rank, int ranks) {
  switch (pattern) {
    case GraphPattern::kNone:
      return {};
    case GraphPattern::kStencil:
      return {rank - 1, rank + 1};
    case GraphPattern::kFft:
      return {rank ^ (1 << step)};
    case GraphPattern::kTree:
      return {tree_input(step, rank, levels_of(ranks))};
    case GraphPattern::kAll:
      break;
  }
  std::vector<int> all(static_cast<std::size_t>(ranks));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

bool needs(GraphPattern pattern, int step, int taker, int giver, int ranks) {
  const std::vector<int> inputs = wanted(pattern, step, taker, ranks);
  return giver != taker && std::find(inputs.begin(), inputs.end(), giver) != inputs.end();
}

}  // namespace

GraphPattern graph_pattern(const std::string& name) {
  static const std::map<std::string, GraphPattern> kNames{{"none", GraphPattern::kNone},
                                                          {"stencil", GraphPattern::kStencil},
                                                          {"fft", GraphPattern::kFft},
                                                          {"tree", GraphPattern::kTree},
                                                          {"all", GraphPattern::kAll}};
  return kNames.at(name);
}

std::vector<GraphEdges> graph_edges(GraphPattern pattern, int rank, int ranks) {
  std::vector<GraphEdges> steps;
  const int period = period_of(pattern, ranks);
  for (int step = 0; step < period; ++step) {
    GraphEdges edges;
    for (int other = 0; other < ranks; ++other) {
      if (needs(pattern, step, rank, other, ranks)) {
        edges.from.push_back(other);
      }
      if (needs(pattern, step, other, rank, ranks)) {
        edges.to.push_back(other);
      }
    }
    steps.push_back(std::move(edges));
  }
  return steps;
}

}  // namespace wulf::mpi
