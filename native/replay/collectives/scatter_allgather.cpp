#include "replay/collectives/algorithm.hpp"
#include "replay/collectives/allgather.hpp"
#include "replay/collectives/tree.hpp"

namespace wulf::replay::scatter_allgather {
namespace {

void with_ring(const Call& call, Steps& steps) {
  const Blocks blocks = Blocks::split(call.bytes, call.size);
  scatter_down(call, blocks, Room::kResult, steps);
  gather_by_ring(call, blocks, steps);
}

void with_doubling(const Call& call, Steps& steps) {
  if (!is_power_of_two(call.size)) {
    with_ring(call, steps);
    return;
  }
  const Blocks blocks = Blocks::split(call.bytes, call.size);
  scatter_down(call, blocks, Room::kResult, steps);
  gather_by_doubling(call, blocks, steps);
}

const Registered<Algorithm> ring{
    algorithm("bcast", "scatter-ring", "scatter, then allgather around the ring (van de Geijn)", with_ring)};
const Registered<Algorithm> doubling{
    algorithm("bcast", "scatter-allgather",
              "scatter, then allgather by recursive doubling; scatter-ring unless a power of two ranks",
              with_doubling)};

}  // namespace
}  // namespace wulf::replay::scatter_allgather
