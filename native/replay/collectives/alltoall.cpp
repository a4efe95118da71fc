#include "replay/collectives/algorithm.hpp"

namespace wulf::replay::alltoall {
namespace {

void own_block(const Call& call, Steps& steps) {
  steps.copy(call.give.block(Room::kInput, call.me), call.take.block(Room::kResult, call.me));
}

bool is_message(const Call& call, const Blocks& blocks, int peer) {
  return !call.leaves_out_empty || blocks.size(peer) > 0;
}

/// Everything posted at once: receives from, then sends to, whom the functions name for each step.
template <typename From, typename To>
void post_all(const Call& call, Steps& steps, const From& from_of, const To& to_of) {
  own_block(call, steps);
  std::vector<Steps::Token> tokens;
  for (int step = 0; step < call.size; ++step) {
    const int from = from_of(step);
    if (from != call.me && is_message(call, call.take, from)) {
      tokens.push_back(steps.receive(from, call.take.block(Room::kResult, from)));
    }
  }
  for (int step = 0; step < call.size; ++step) {
    const int to = to_of(step);
    if (to != call.me && is_message(call, call.give, to)) {
      tokens.push_back(steps.send(to, call.give.block(Room::kInput, to)));
    }
  }
  steps.wait_all(tokens);
}

void linear(const Call& call, Steps& steps) {
  post_all(
      call, steps, [&](int step) { return (call.me + step) % call.size; },
      [&](int step) { return (call.me - step + call.size) % call.size; });
}

/// As Open MPI has it of blocks of any size: all ranks send to rank 0 first, then to rank 1.
void in_order(const Call& call, Steps& steps) {
  const auto same = [](int step) { return step; };
  post_all(call, steps, same, same);
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
const Registered<Algorithm> by_rank{algorithm(
    "alltoall", "linear-in-order", "everything posted at once, by all ranks from rank 0 on", in_order)};
const Registered<Algorithm> by_pairs{
    algorithm("alltoall", "pairwise", "one partner after the other", pairwise)};

}  // namespace
}  // namespace wulf::replay::alltoall
