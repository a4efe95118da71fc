#include "replay/collectives/algorithm.hpp"
#include "replay/collectives/tree.hpp"

namespace wulf::replay::tree_reduce {
namespace {

template <Tree (*kTree)(const Call&)>
void reduce(const Call& call, Steps& steps) {
  reduce_along(kTree(call), call, steps);
}

const Registered<Algorithm> linear{
    algorithm("reduce", "linear", "every rank sends to the root", reduce<linear_tree>)};
const Registered<Algorithm> chain{algorithm(
    "reduce", "chain", "each rank sends to the one before; with segments a pipeline", reduce<chain_tree>)};
const Registered<Algorithm> binary{algorithm("reduce", "binary", "up a binary tree", reduce<binary_tree>)};
const Registered<Algorithm> binomial{
    algorithm("reduce", "binomial", "up a binomial tree", reduce<binomial_tree>)};

}  // namespace
}  // namespace wulf::replay::tree_reduce
