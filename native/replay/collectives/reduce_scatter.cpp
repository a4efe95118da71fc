#include "replay/collectives/algorithm.hpp"
#include "replay/collectives/fold.hpp"

namespace wulf::replay::reduce_scatter {
namespace {

/// A rank's own block lies where the vector lay that it is a part of.
void nonoverlapping(const Call& call, Steps& steps) {
  Call part = call;
  part.root = 0;
  part.bytes = call.give.total();
  expand_as("reduce/binomial", part, steps);
  const Part mine = call.give.block(Room::kResult, call.me);
  if (call.me != 0) {
    steps.receive_now(0, mine);
    return;
  }
  std::vector<Steps::Token> sends;
  for (int each = 1; each < call.size; ++each) {
    sends.push_back(steps.send(each, call.give.block(Room::kResult, each)));
  }
  steps.wait_all(sends);
}

/// Blocks of the ranks whose work numbers [first, last) of the fold do.
Part blocks_of(const Call& call, const Fold& fold, Room room, int first, int last) {
  const int extra = call.size - fold.size();
  const auto begin = [&](int number) { return number < extra ? 2 * number : number + extra; };
  return call.give.part(room, begin(first), begin(last));
}

void halve(const Call& call, const Fold& fold, Steps& steps) {
  int first = 0;
  for (int mask = fold.size() / 2; mask >= 1; mask /= 2) {
    const bool lower = (fold.number() & mask) == 0;
    const int keep = lower ? first : first + mask;
    const int give = lower ? first + mask : first;
    const int partner = fold.rank_of(fold.number() ^ mask);
    const Part in = blocks_of(call, fold, Room::kScratch, keep, keep + mask);
    steps.exchange(partner, blocks_of(call, fold, Room::kResult, give, give + mask), partner, in);
    steps.reduce(in, {Room::kResult, in.begin, in.end});
    first = keep;
  }
}

void recursive_halving(const Call& call, Steps& steps) {
  const std::uint64_t total = call.give.total();
  const Fold fold(call);
  steps.copy({Room::kInput, 0, total}, {Room::kResult, 0, total});
  fold.enter(total, steps);
  if (fold.number() < 0) {
    steps.receive_now(fold.partner(), call.give.block(Room::kResult, call.me));
    return;
  }
  halve(call, fold, steps);
  if (fold.partner() >= 0) {
    steps.send_now(fold.partner(), call.give.block(Room::kResult, fold.partner()));
  }
}

/// To each rank goes its block alone, which it reduces.
void pairwise(const Call& call, Steps& steps) {
  const Part mine = call.give.block(Room::kResult, call.me);
  const Part theirs{Room::kScratch, mine.begin, mine.end};
  steps.copy({Room::kInput, mine.begin, mine.end}, mine);
  for (int step = 1; step < call.size; ++step) {
    steps.exchange((call.me + step) % call.size, call.give.block(Room::kInput, (call.me + step) % call.size),
                   (call.me - step + call.size) % call.size, theirs);
    steps.reduce(theirs, mine);
  }
}

void recursive_doubling(const Call& call, Steps& steps) {
  Call whole = call;
  whole.bytes = call.give.total();
  expand_as("allreduce/recursive-doubling", whole, steps);
}

const Registered<Algorithm> by_root{algorithm(
    "reduce_scatter", "nonoverlapping", "reduce to rank 0 by a binomial tree, then scatter", nonoverlapping)};
const Registered<Algorithm> by_halving{algorithm("reduce_scatter", "recursive-halving",
                                                 "halves of the vector between pairs", recursive_halving)};
const Registered<Algorithm> by_pairs{
    algorithm("reduce_scatter", "pairwise", "each block straight to its rank", pairwise)};
const Registered<Algorithm> by_doubling{algorithm("reduce_scatter", "recursive-doubling",
                                                  "as an allreduce of the whole vector", recursive_doubling)};

}  // namespace
}  // namespace wulf::replay::reduce_scatter
