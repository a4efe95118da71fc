#include <algorithm>

#include "replay/collectives/algorithm.hpp"

namespace wulf::replay::gather {
namespace {

void own_block(const Call& call, Steps& steps) {
  steps.copy({Room::kInput, 0, call.bytes}, call.take.block(Room::kResult, call.me));
}

/// The root takes one after the other.
void linear(const Call& call, Steps& steps) {
  if (call.me != call.root) {
    steps.send_now(call.root, {Room::kInput, 0, call.bytes});
    return;
  }
  own_block(call, steps);
  for (int each = 0; each < call.size; ++each) {
    if (each != call.root) {
      steps.receive_now(each, call.take.block(Room::kResult, each));
    }
  }
}

/// The root asks each rank to send, so that few messages are unexpected.
void linear_sync(const Call& call, Steps& steps) {
  if (call.me != call.root) {
    steps.receive_now(call.root, kNothing);
    steps.send_now(call.root, {Room::kInput, 0, call.bytes});
    return;
  }
  own_block(call, steps);
  for (int each = 0; each < call.size; ++each) {
    if (each != call.root) {
      const Steps::Token incoming = steps.receive(each, call.take.block(Room::kResult, each));
      steps.send_now(each, kNothing);
      steps.wait(incoming);
    }
  }
}

/// Up a binomial tree; all blocks are equal, and lie in the scratch room by turned number.
void binomial(const Call& call, Steps& steps) {
  const int turned = call.turned();
  const Blocks blocks = Blocks::equal(call.bytes, call.size);
  steps.copy({Room::kInput, 0, call.bytes}, blocks.block(Room::kScratch, turned));
  std::int64_t have = 1;
  const auto up_to = [&](std::int64_t end) {
    return static_cast<int>(std::min<std::int64_t>(end, call.size));
  };
  for (; have < call.size && turned % (2 * have) == 0; have *= 2) {
    const std::int64_t child = turned + have;
    if (child < call.size) {
      steps.receive_now(call.rank_of(static_cast<int>(child)),
                        blocks.part(Room::kScratch, static_cast<int>(child), up_to(child + have)));
    }
  }
  if (turned != 0) {
    steps.send_now(call.rank_of(static_cast<int>(turned - have)),
                   blocks.part(Room::kScratch, turned, up_to(turned + have)));
    return;
  }
  for (int i = 0; i < call.size; ++i) {
    steps.copy(blocks.block(Room::kScratch, i), call.take.block(Room::kResult, call.rank_of(i)));
  }
}

const Registered<Algorithm> by_root{
    algorithm("gather", "linear", "the root takes from one after the other", linear)};
const Registered<Algorithm> by_asking{
    algorithm("gather", "linear-sync", "the root asks one after the other", linear_sync)};
const Registered<Algorithm> by_tree{
    algorithm("gather", "binomial", "up a binomial tree; of equal blocks", binomial)};

}  // namespace
}  // namespace wulf::replay::gather
