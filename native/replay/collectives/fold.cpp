#include "replay/collectives/fold.hpp"

namespace wulf::replay {

Fold::Fold(const Call& call, int keep)
    : me_(call.me), keep_(keep), power_(power_of_two_below(call.size)), extra_(call.size - power_) {
  if (me_ < 2 * extra_) {
    partner_ = me_ ^ 1;
  }
  number_ = number_of(me_);
}

int Fold::rank_of(int number) const {
  if (number >= extra_) {
    return number + extra_;
  }
  return keep_ == 2 * number ? keep_ : (2 * number) + 1;
}

int Fold::number_of(int rank) const {
  const int number = rank < 2 * extra_ ? rank / 2 : rank - extra_;
  return rank_of(number) == rank ? number : -1;
}

void Fold::enter(std::uint64_t bytes, Steps& steps) const {
  const Part all{Room::kResult, 0, bytes};
  const Part theirs{Room::kScratch, 0, bytes};
  if (number_ < 0) {
    steps.send_now(partner_, all);
  } else if (partner_ >= 0) {
    steps.receive_now(partner_, theirs);
    steps.reduce(theirs, all);
  }
}

void Fold::leave(std::uint64_t bytes, Steps& steps) const {
  const Part all{Room::kResult, 0, bytes};
  if (number_ < 0) {
    steps.receive_now(partner_, all);
  } else if (partner_ >= 0) {
    steps.send_now(partner_, all);
  }
}

}  // namespace wulf::replay
