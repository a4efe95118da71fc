#include "replay/collectives/algorithm.hpp"
#include "replay/collectives/tree.hpp"

namespace wulf::replay::scatter {
namespace {

template <bool kOneByOne>
void from_root(const Call& call, Steps& steps) {
  if (call.me != call.root) {
    steps.receive_now(call.root, {Room::kResult, 0, call.bytes});
    return;
  }
  steps.copy(call.give.block(Room::kInput, call.me), {Room::kResult, 0, call.bytes});
  std::vector<Steps::Token> sends;
  for (int each = 0; each < call.size; ++each) {
    if (each == call.root) {
      continue;
    }
    sends.push_back(steps.send(each, call.give.block(Room::kInput, each)));
    if (kOneByOne) {
      steps.wait(sends.back());
    }
  }
  if (!kOneByOne) {
    steps.wait_all(sends);
  }
}

/// Down a binomial tree; all blocks are equal, and lie in the scratch room by turned number.
void binomial(const Call& call, Steps& steps) {
  const int turned = call.turned();
  const Blocks blocks = Blocks::equal(call.bytes, call.size);
  for (int i = 0; turned == 0 && i < call.size; ++i) {
    steps.copy(call.give.block(Room::kInput, call.rank_of(i)), blocks.block(Room::kScratch, i));
  }
  scatter_down(call, blocks, Room::kScratch, steps);
  steps.copy(blocks.block(Room::kScratch, turned), {Room::kResult, 0, call.bytes});
}

const Registered<Algorithm> one_by_one{
    algorithm("scatter", "linear", "the root sends to one after the other", from_root<true>)};
const Registered<Algorithm> at_once{
    algorithm("scatter", "linear-nb", "the root posts all sends at once", from_root<false>)};
const Registered<Algorithm> by_tree{
    algorithm("scatter", "binomial", "down a binomial tree; of equal blocks", binomial)};

}  // namespace
}  // namespace wulf::replay::scatter
