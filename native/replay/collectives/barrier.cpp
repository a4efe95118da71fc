#include "replay/collectives/algorithm.hpp"
#include "replay/collectives/tree.hpp"

namespace wulf::replay::barrier {
namespace {

void dissemination(const Call& call, Steps& steps) {
  for (std::int64_t step = 1; step < call.size; step *= 2) {
    const int distance = static_cast<int>(step);
    steps.exchange((call.me + distance) % call.size, kNothing, (call.me - distance + call.size) % call.size,
                   kNothing);
  }
}

/// Those beyond the largest power of two tell a partner, which tells them the end.
void recursive_doubling(const Call& call, Steps& steps) {
  const int power = power_of_two_below(call.size);
  if (call.me >= power) {
    steps.send_now(call.me - power, kNothing);
    steps.receive_now(call.me - power, kNothing);
    return;
  }
  const bool partnered = call.me + power < call.size;
  if (partnered) {
    steps.receive_now(call.me + power, kNothing);
  }
  for (int mask = 1; mask < power; mask *= 2) {
    steps.exchange(call.me ^ mask, kNothing, call.me ^ mask, kNothing);
  }
  if (partnered) {
    steps.send_now(call.me + power, kNothing);
  }
}

void up_and_down(const Tree& tree, const Call& call, Steps& steps) {
  Call empty = call;
  empty.bytes = 0;
  empty.segment = 0;
  reduce_along(tree, empty, steps);
  broadcast_along(tree, empty, steps);
}

void linear(const Call& call, Steps& steps) { up_and_down(linear_tree(call), call, steps); }

void tree(const Call& call, Steps& steps) { up_and_down(binomial_tree(call), call, steps); }

/// Twice around; the second time says that all have come.
void double_ring(const Call& call, Steps& steps) {
  const int left = (call.me - 1 + call.size) % call.size;
  const int right = (call.me + 1) % call.size;
  for (int round = 0; round < 2 && call.size > 1; ++round) {
    if (call.me != 0) {
      steps.receive_now(left, kNothing);
    }
    steps.send_now(right, kNothing);
    if (call.me == 0) {
      steps.receive_now(left, kNothing);
    }
  }
}

const Registered<Algorithm> by_dissemination{
    algorithm("barrier", "dissemination", "log2 rounds at doubling distances (Hensgen and others 1988)",
              dissemination)};
const Registered<Algorithm> by_doubling{algorithm("barrier", "recursive-doubling",
                                                  "pairwise exchanges over the largest power of two ranks",
                                                  recursive_doubling)};
const Registered<Algorithm> by_root{
    algorithm("barrier", "linear", "all tell rank 0, which tells all", linear)};
const Registered<Algorithm> by_tree{algorithm("barrier", "tree", "up and down a binomial tree", tree)};
const Registered<Algorithm> by_ring{
    algorithm("barrier", "double-ring", "twice around the ring", double_ring)};

}  // namespace
}  // namespace wulf::replay::barrier
