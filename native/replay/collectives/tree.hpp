#pragma once

#include <vector>

#include "replay/collectives/call.hpp"

namespace wulf::replay {

/// A rank's place in a tree over all ranks of a call.
struct Tree {
  int parent = -1;            ///< -1: it is the root
  std::vector<int> children;  ///< those with the largest subtrees first
};

/// Each rank's children are those that differ in a digit of base `radix` below its lowest one that is not 0,
/// counted from the root: binomial where radix is 2.
[[nodiscard]] Tree knomial_tree(const Call& call, int radix);
[[nodiscard]] Tree binomial_tree(const Call& call);
/// Two children each, dealt out so that one subtree has the odd numbers and the other the even ones.
[[nodiscard]] Tree binary_tree(const Call& call);
[[nodiscard]] Tree chain_tree(const Call& call);
/// All are children of the root.
[[nodiscard]] Tree linear_tree(const Call& call);

/// Sends the whole result of the root down the tree, by segments.
void broadcast_along(const Tree& tree, const Call& call, Steps& steps);
/// Down a binomial tree goes what the subtree needs: of the root's blocks in this room, by turned number,
/// block i ends at turned rank i.
void scatter_down(const Call& call, const Blocks& blocks, Room room, Steps& steps);
/// Reduces all inputs up the tree into the root's result, by segments.
void reduce_along(const Tree& tree, const Call& call, Steps& steps);

}  // namespace wulf::replay
