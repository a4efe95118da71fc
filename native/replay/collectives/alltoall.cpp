#include "replay/collectives/algorithm.hpp"

namespace wulf::replay::alltoall {
namespace {

void own_block(const Call& call, Steps& steps) {
  steps.copy(call.give.block(Room::kInput, call.me), call.take.block(Room::kResult, call.me));
}

bool is_message(const Call& call, const Blocks& blocks, int peer) {
  return !call.leaves_out_empty || blocks.size(peer) > 0;
}

void linear(const Call& call, Steps& steps) {
  own_block(call, steps);
  std::vector<Steps::Token> tokens;
  for (int step = 1; step < call.size; ++step) {
    const int from = (call.me + step) % call.size;
    if (is_message(call, call.take, from)) {
      tokens.push_back(steps.receive(from, call.take.block(Room::kResult, from)));
    }
  }
  for (int step = 1; step < call.size; ++step) {
    const int to = (call.me - step + call.size) % call.size;
    if (is_message(call, call.give, to)) {
      tokens.push_back(steps.send(to, call.give.block(Room::kInput, to)));
    }
  }
  steps.wait_all(tokens);
}

void pairwise(const Call& call, Steps& steps) {
  own_block(call, steps);
  for (int step = 1; step < call.size; ++step) {
    const int to = (call.me + step) % call.size;
    const int from = (call.me - step + call.size) % call.size;
    steps.exchange(to, call.give.block(Room::kInput, to), from, call.take.block(Room::kResult, from));
  }
}

const Registered<Algorithm> by_all{algorithm("alltoall", "linear", "everything posted at once", linear)};
const Registered<Algorithm> by_pairs{
    algorithm("alltoall", "pairwise", "one partner after the other", pairwise)};

}  // namespace
}  // namespace wulf::replay::alltoall
