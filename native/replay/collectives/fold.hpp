#pragma once

#include "replay/collectives/call.hpp"

namespace wulf::replay {

/// The largest power of two of a call's ranks, which do the work for all: of the first pairs (0, 1), (2, 3) …
/// one stays out, as many as there are too many ranks.
class Fold {
 public:
  /// `keep`: never stays out; otherwise the even one does.
  explicit Fold(const Call& call, int keep = -1);

  [[nodiscard]] int size() const { return power_; }
  /// This rank's number within; -1: it stays out.
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] int rank_of(int number) const;
  [[nodiscard]] int number_of(int rank) const;
  /// The other one of its pair, or -1.
  [[nodiscard]] int partner() const { return partner_; }

  /// Those that stay out give their result to their partners, which reduce it into theirs.
  void enter(std::uint64_t bytes, Steps& steps) const;
  /// They get it back.
  void leave(std::uint64_t bytes, Steps& steps) const;

 private:
  int me_;
  int keep_;
  int power_;
  int extra_;
  int number_ = -1;
  int partner_ = -1;
};

}  // namespace wulf::replay
