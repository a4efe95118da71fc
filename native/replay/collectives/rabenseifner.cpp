#include "replay/collectives/algorithm.hpp"
#include "replay/collectives/fold.hpp"

namespace wulf::replay::rabenseifner {
namespace {

/// Blocks [first, last).
struct Range {
  int first;
  int last;

  [[nodiscard]] Part in(Room room, const Blocks& blocks) const { return blocks.part(room, first, last); }
};

/// The half of a range that a rank keeps when it halves it with `number ^ mask`, and the other one.
Range half(const Range& range, bool lower) {
  const int middle = range.first + ((range.last - range.first) / 2);
  return lower ? Range{range.first, middle} : Range{middle, range.last};
}

/// Rabenseifner's reduction (2004): reduce-scatter by halving vectors, then gather them again. The whole
/// vector is halved between nearest ranks, as both Open MPI and MPICH do it.
class Halving {
 public:
  Halving(const Call& call, const Fold& fold, Steps& steps)
      : fold_(fold), steps_(steps), blocks_(Blocks::split(call.bytes, fold.size())) {}

  void reduce_scatter() {
    for (int mask = 1; mask < fold_.size(); mask *= 2) {
      const bool lower = (fold_.number() & mask) == 0;
      const Range keep = half(ranges_.back(), lower);
      const Range give = half(ranges_.back(), !lower);
      const int partner = fold_.rank_of(fold_.number() ^ mask);
      steps_.exchange(partner, give.in(Room::kResult, blocks_), partner, keep.in(Room::kScratch, blocks_));
      steps_.reduce(keep.in(Room::kScratch, blocks_), keep.in(Room::kResult, blocks_));
      ranges_.push_back(keep);
    }
  }

  void allgather() {
    for (int mask = fold_.size() / 2; mask >= 1; mask /= 2) {
      const Range have = ranges_.back();
      ranges_.pop_back();
      const int partner = fold_.rank_of(fold_.number() ^ mask);
      const Range want = half(ranges_.back(), (fold_.number() & mask) != 0);
      steps_.exchange(partner, have.in(Room::kResult, blocks_), partner, want.in(Room::kResult, blocks_));
    }
  }

  /// To the rank with number `root`.
  void gather(int root) {
    for (int mask = fold_.size() / 2; mask >= 1; mask /= 2) {
      const Range have = ranges_.back();
      ranges_.pop_back();
      const int partner = fold_.rank_of(fold_.number() ^ mask);
      if ((fold_.number() & mask) != (root & mask)) {
        steps_.send_now(partner, have.in(Room::kResult, blocks_));
        return;
      }
      const Range want = half(ranges_.back(), (fold_.number() & mask) != 0);
      steps_.receive_now(partner, want.in(Room::kResult, blocks_));
    }
  }

 private:
  const Fold& fold_;
  Steps& steps_;
  Blocks blocks_;
  std::vector<Range> ranges_ =
      std::vector<Range>{{0, blocks_.count()}};  ///< what was kept, halving by halving
};

void begin(const Call& call, const Fold& fold, Steps& steps) {
  steps.copy({Room::kInput, 0, call.bytes}, {Room::kResult, 0, call.bytes});
  fold.enter(call.bytes, steps);
}

void allreduce(const Call& call, Steps& steps) {
  const Fold fold(call);
  begin(call, fold, steps);
  if (fold.number() >= 0) {
    Halving halving(call, fold, steps);
    halving.reduce_scatter();
    halving.allgather();
  }
  fold.leave(call.bytes, steps);
}

void reduce(const Call& call, Steps& steps) {
  const Fold fold(call, call.root);
  begin(call, fold, steps);
  if (fold.number() >= 0) {
    Halving halving(call, fold, steps);
    halving.reduce_scatter();
    halving.gather(fold.number_of(call.root));
  }
}

const Registered<Algorithm> of_allreduce{
    algorithm("allreduce", "rabenseifner", "reduce-scatter by halving, then allgather", allreduce)};
const Registered<Algorithm> of_reduce{
    algorithm("reduce", "rabenseifner", "reduce-scatter by halving, then gather", reduce)};

}  // namespace
}  // namespace wulf::replay::rabenseifner
