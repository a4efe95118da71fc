#include "replay/collectives/algorithm.hpp"
#include "replay/collectives/tree.hpp"

namespace wulf::replay::tree_bcast {
namespace {

/// Open MPI's k-nomial broadcast has radix 4 unless it is told another (coll_base_functions.h).
constexpr int kRadix = 4;

template <Tree (*kTree)(const Call&)>
void broadcast(const Call& call, Steps& steps) {
  broadcast_along(kTree(call), call, steps);
}

Tree radix_tree(const Call& call) { return knomial_tree(call, kRadix); }

const Registered<Algorithm> linear{
    algorithm("bcast", "linear", "the root sends to every rank", broadcast<linear_tree>)};
const Registered<Algorithm> chain{algorithm(
    "bcast", "chain", "each rank sends to the next one; with segments a pipeline", broadcast<chain_tree>)};
const Registered<Algorithm> binary{
    algorithm("bcast", "binary", "down a binary tree", broadcast<binary_tree>)};
const Registered<Algorithm> binomial{
    algorithm("bcast", "binomial", "down a binomial tree", broadcast<binomial_tree>)};
const Registered<Algorithm> knomial{
    algorithm("bcast", "knomial", "down a tree of radix 4", broadcast<radix_tree>)};

}  // namespace
}  // namespace wulf::replay::tree_bcast
