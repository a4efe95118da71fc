#include "replay/collectives/algorithm.hpp"
#include "replay/collectives/fold.hpp"

namespace wulf::replay::allreduce_doubling {
namespace {

void expand(const Call& call, Steps& steps) {
  const Part all{Room::kResult, 0, call.bytes};
  const Part theirs{Room::kScratch, 0, call.bytes};
  const Fold fold(call);
  steps.copy({Room::kInput, 0, call.bytes}, all);
  fold.enter(call.bytes, steps);
  for (int mask = 1; fold.number() >= 0 && mask < fold.size(); mask *= 2) {
    const int partner = fold.rank_of(fold.number() ^ mask);
    steps.exchange(partner, all, partner, theirs);
    steps.reduce(theirs, all);
  }
  fold.leave(call.bytes, steps);
}

const Registered<Algorithm> registered{algorithm(
    "allreduce", "recursive-doubling", "whole vectors between pairs at doubling distances", expand)};

}  // namespace
}  // namespace wulf::replay::allreduce_doubling
