#include "replay/collectives/algorithm.hpp"

namespace wulf::replay::scan {
namespace {

/// Each rank adds what comes from the one before. `kInclusive`: with its own.
template <bool kInclusive>
void linear(const Call& call, Steps& steps) {
  const Part own{Room::kInput, 0, call.bytes};
  const Part sum{Room::kResult, 0, call.bytes};
  const Part onward{Room::kScratch, 0, call.bytes};
  if (call.me > 0) {
    steps.receive_now(call.me - 1, sum);
  }
  if (kInclusive || call.me + 1 < call.size) {
    steps.copy(own, onward);
    if (call.me > 0) {
      steps.reduce(sum, onward);
    }
  }
  if (call.me + 1 < call.size) {
    steps.send_now(call.me + 1, onward);
  }
  if (kInclusive) {
    steps.copy(onward, sum);
  }
}

/// `partial` is the sum of the ranks that the exchanges have joined; those below go into the result.
template <bool kInclusive>
void recursive_doubling(const Call& call, Steps& steps) {
  const Part sum{Room::kResult, 0, call.bytes};
  const Part partial{Room::kScratch, 0, call.bytes};
  const Part theirs{Room::kScratch, call.bytes, 2 * call.bytes};
  steps.copy({Room::kInput, 0, call.bytes}, partial);
  bool has_sum = kInclusive;
  if (has_sum) {
    steps.copy(partial, sum);
  }
  for (std::int64_t mask = 1; mask < call.size; mask *= 2) {
    const auto partner = static_cast<int>(call.me ^ mask);
    if (partner >= call.size) {
      continue;
    }
    steps.exchange(partner, partial, partner, theirs);
    if (partner < call.me) {
      if (has_sum) {
        steps.reduce(theirs, sum);
      } else {
        steps.copy(theirs, sum);
      }
      has_sum = true;
    }
    steps.reduce(theirs, partial);
  }
}

const Registered<Algorithm> scan_linear{
    algorithm("scan", "linear", "from each rank to the next", linear<true>)};
const Registered<Algorithm> scan_doubling{
    algorithm("scan", "recursive-doubling", "pairs at doubling distances", recursive_doubling<true>)};
const Registered<Algorithm> exscan_linear{
    algorithm("exscan", "linear", "from each rank to the next", linear<false>)};
const Registered<Algorithm> exscan_doubling{
    algorithm("exscan", "recursive-doubling", "pairs at doubling distances", recursive_doubling<false>)};

}  // namespace
}  // namespace wulf::replay::scan
