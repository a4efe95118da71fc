#include <algorithm>

#include "replay/collectives/algorithm.hpp"
#include "replay/collectives/tree.hpp"

namespace wulf::replay::split_binary {
namespace {

/// One half of the message goes down to the odd numbers, the other to the even ones; then neighbours exchange
/// halves. The last odd number has no neighbour where the number of ranks is even: the root serves it.
void expand(const Call& call, Steps& steps) {
  const Blocks halves = Blocks::split(call.bytes, 2);
  const Tree tree = binary_tree(call);
  const int turned = call.turned();
  const int mine = turned % 2 == 1 ? 0 : 1;
  const bool alone_at_end = call.size % 2 == 0;
  if (turned == 0) {
    std::vector<Steps::Token> sends;
    sends.reserve(tree.children.size() + 1);
    for (std::size_t i = 0; i < tree.children.size(); ++i) {
      sends.push_back(steps.send(tree.children[i], halves.block(Room::kResult, static_cast<int>(i))));
    }
    if (alone_at_end && call.size > 1) {
      sends.push_back(steps.send(call.rank_of(call.size - 1), halves.block(Room::kResult, 1)));
    }
    steps.wait_all(sends);
    return;
  }
  steps.receive_now(tree.parent, halves.block(Room::kResult, mine));
  std::vector<Steps::Token> sends;
  sends.reserve(tree.children.size());
  for (const int child : tree.children) {
    sends.push_back(steps.send(child, halves.block(Room::kResult, mine)));
  }
  steps.wait_all(sends);
  if (alone_at_end && turned == call.size - 1) {
    steps.receive_now(call.root, halves.block(Room::kResult, 1));
    return;
  }
  const int neighbour = call.rank_of(mine == 0 ? turned + 1 : turned - 1);
  steps.exchange(neighbour, halves.block(Room::kResult, mine), neighbour,
                 halves.block(Room::kResult, 1 - mine));
}

const Registered<Algorithm> registered{
    algorithm("bcast", "split-binary",
              "each half down its own half of a binary tree, then neighbours exchange", expand)};

}  // namespace
}  // namespace wulf::replay::split_binary
