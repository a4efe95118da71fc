#include "replay/collectives/algorithm.hpp"
#include "replay/collectives/allgather.hpp"

namespace wulf::replay::ring {
namespace {

/// Block i ends, reduced of all ranks, at rank i.
void scatter_around(const Call& call, const Blocks& blocks, Steps& steps) {
  const int left = (call.me - 1 + call.size) % call.size;
  const int right = (call.me + 1) % call.size;
  for (int step = 1; step < call.size; ++step) {
    const int out = (call.me - step + call.size) % call.size;
    const int in = (out - 1 + call.size) % call.size;
    steps.exchange(right, blocks.block(Room::kResult, out), left, blocks.block(Room::kScratch, in));
    steps.reduce(blocks.block(Room::kScratch, in), blocks.block(Room::kResult, in));
  }
}

void allreduce(const Call& call, Steps& steps) {
  const Blocks blocks = Blocks::split(call.bytes, call.size);
  Call turned = call;
  turned.root = 0;
  steps.copy({Room::kInput, 0, call.bytes}, {Room::kResult, 0, call.bytes});
  scatter_around(call, blocks, steps);
  gather_by_ring(turned, blocks, steps);
}

void reduce_scatter(const Call& call, Steps& steps) {
  const std::uint64_t total = call.give.total();
  steps.copy({Room::kInput, 0, total}, {Room::kResult, 0, total});
  scatter_around(call, call.give, steps);
}

const Registered<Algorithm> of_allreduce{
    algorithm("allreduce", "ring", "reduce-scatter, then allgather, both around the ring", allreduce)};
const Registered<Algorithm> of_reduce_scatter{
    algorithm("reduce_scatter", "ring", "each block around the ring, reduced at every rank", reduce_scatter)};

}  // namespace
}  // namespace wulf::replay::ring
