#include "replay/collectives/algorithm.hpp"
#include "replay/collectives/tree.hpp"

namespace wulf::replay::reduce_and_bcast {
namespace {

template <Tree (*kTree)(const Call&)>
void expand(const Call& call, Steps& steps) {
  Call rooted = call;
  rooted.root = 0;
  const Tree tree = kTree(rooted);
  reduce_along(tree, rooted, steps);
  broadcast_along(tree, rooted, steps);
}

const Registered<Algorithm> nonoverlapping{algorithm("allreduce", "nonoverlapping",
                                                     "reduce to rank 0, then broadcast, by binomial trees",
                                                     expand<binomial_tree>)};
const Registered<Algorithm> linear{
    algorithm("allreduce", "linear", "reduce at rank 0, then broadcast by it", expand<linear_tree>)};

}  // namespace
}  // namespace wulf::replay::reduce_and_bcast
