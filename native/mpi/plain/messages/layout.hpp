#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

namespace wulf::mpi {

/// Where messages lie in a buffer: `slots` of them (a power of two), each at a cache line's beginning.
class Layout {
 public:
  /// At least `least` messages, and so many that they take more than `beyond` bytes in all: by the time that
  /// one is used again, no cache of that size holds it. `beyond` = 0: no more than asked for.
  Layout(std::size_t bytes, std::size_t least, std::size_t beyond);

  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::size_t slots() const { return slots_; }
  /// Bytes that the buffer needs; at least one, so that there is an address.
  [[nodiscard]] std::size_t total() const { return slots_ * step_; }
  [[nodiscard]] std::size_t offset(std::size_t slot) const { return slot * step_; }

  /// The slot to use after `slot`. All are used once before one is used again; the next one is far away, so
  /// that no prefetcher finds it.
  [[nodiscard]] std::size_t after(std::size_t slot) const { return (slot + jump_) & (slots_ - 1); }

 private:
  std::size_t bytes_;
  std::size_t step_;
  std::size_t slots_;
  std::size_t jump_;
};

/// Who sends to whom: the first half's i-th rank to the second half's i-th, as OSU's mbw_mr. Of an odd number
/// the last takes no part. At most `ranks` / 2 pairs.
[[nodiscard]] std::vector<std::pair<int, int>> halves(int ranks, int pairs);

/// The share of communication hidden behind computation, 0 to 1, from the times of each alone and of both
/// together (Intel MPI Benchmarks, IMB-NBC): what was saved, of what could be. Nothing where one of them
/// takes no time.
[[nodiscard]] std::optional<double> overlap_share(double comm, double compute, double both);

}  // namespace wulf::mpi
