#include "replay/collectives/allgather.hpp"

#include <algorithm>

#include "replay/collectives/algorithm.hpp"

namespace wulf::replay {

void gather_by_ring(const Call& call, const Blocks& blocks, Steps& steps) {
  const int turned = call.turned();
  const int left = call.rank_of(turned - 1 + call.size);
  const int right = call.rank_of(turned + 1);
  for (int step = 0; step + 1 < call.size; ++step) {
    const int mine = (turned - step + call.size) % call.size;
    const int next = (mine - 1 + call.size) % call.size;
    steps.exchange(right, blocks.block(Room::kResult, mine), left, blocks.block(Room::kResult, next));
  }
}

void gather_by_doubling(const Call& call, const Blocks& blocks, Steps& steps) {
  const int turned = call.turned();
  for (int mask = 1; mask < call.size; mask *= 2) {
    const int mine = turned & ~(mask - 1);  // where the blocks begin that this rank has by now
    const int theirs = mine ^ mask;
    const int partner = call.rank_of(turned ^ mask);
    steps.exchange(partner, blocks.part(Room::kResult, mine, mine + mask), partner,
                   blocks.part(Room::kResult, theirs, theirs + mask));
  }
}

namespace {

void own_block(const Call& call, Steps& steps) {
  const Part mine = call.take.block(Room::kResult, call.me);
  steps.copy({Room::kInput, 0, mine.bytes()}, mine);
}

void ring(const Call& call, Steps& steps) {
  own_block(call, steps);
  gather_by_ring(call, call.take, steps);
}

/// Blocks in the order in which they come, which begins with the own one.
Blocks from_me(const Call& call) {
  std::vector<std::uint64_t> sizes;
  sizes.reserve(static_cast<std::size_t>(call.size));
  for (int i = 0; i < call.size; ++i) {
    sizes.push_back(call.take.size((call.me + i) % call.size));
  }
  return Blocks::of(sizes);
}

void bruck(const Call& call, Steps& steps) {
  const Blocks order = from_me(call);
  steps.copy({Room::kInput, 0, order.size(0)}, order.block(Room::kScratch, 0));
  for (std::int64_t have = 1; have < call.size; have *= 2) {
    const int distance = static_cast<int>(have);
    const int more = std::min(distance, call.size - distance);
    steps.exchange((call.me - distance + call.size) % call.size, order.part(Room::kScratch, 0, more),
                   (call.me + distance) % call.size, order.part(Room::kScratch, distance, distance + more));
  }
  for (int i = 0; i < call.size; ++i) {
    steps.copy(order.block(Room::kScratch, i), call.take.block(Room::kResult, (call.me + i) % call.size));
  }
}

void recursive_doubling(const Call& call, Steps& steps) {
  if (!is_power_of_two(call.size)) {
    bruck(call, steps);
    return;
  }
  own_block(call, steps);
  gather_by_doubling(call, call.take, steps);
}

/// Blocks of a pair of neighbours go on together (Chen, Yuan, Mo 2005); of an even number of ranks.
void neighbor_exchange(const Call& call, Steps& steps) {
  if (call.size % 2 != 0) {
    ring(call, steps);
    return;
  }
  own_block(call, steps);
  const int p = call.size;
  const int even = call.me % 2 == 0 ? 1 : -1;
  const int pair = call.me - (call.me % 2);  // the first rank of the own pair
  const int first = (call.me + even + p) % p;
  const int second = (call.me - even + p) % p;
  steps.exchange(first, call.take.block(Room::kResult, call.me), first,
                 call.take.block(Room::kResult, first));
  int out = pair;
  for (int step = 1; step < p / 2; ++step) {
    // towards the second neighbour come the pairs of its side, towards the first those of the other
    const int away = (step + 1) / 2 * 2 * even;
    const int in = (((step % 2 == 1 ? pair - away : pair + away) % p) + p) % p;
    const int partner = step % 2 == 1 ? second : first;
    steps.exchange(partner, call.take.part(Room::kResult, out, out + 2), partner,
                   call.take.part(Room::kResult, in, in + 2));
    out = in;
  }
}

void linear(const Call& call, Steps& steps) {
  Call part = call;
  part.root = 0;
  part.bytes = call.take.size(call.me);
  expand_as("gather/linear", part, steps);
  part.bytes = call.take.total();
  expand_as("bcast/linear", part, steps);
}

const Registered<Algorithm> by_ring{algorithm("allgather", "ring", "each block once around the ring", ring)};
const Registered<Algorithm> by_bruck{
    algorithm("allgather", "bruck", "log2 rounds for any number of ranks (Bruck and others 1997)", bruck)};
const Registered<Algorithm> by_doubling{algorithm("allgather", "recursive-doubling",
                                                  "doubling distances; bruck unless a power of two ranks",
                                                  recursive_doubling)};
const Registered<Algorithm> by_neighbors{algorithm("allgather", "neighbor-exchange",
                                                   "pairs of blocks between neighbours; ring for odd numbers",
                                                   neighbor_exchange)};
const Registered<Algorithm> by_root{
    algorithm("allgather", "linear", "gather at rank 0, then broadcast by it", linear)};

}  // namespace
}  // namespace wulf::replay
