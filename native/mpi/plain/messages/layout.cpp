#include "mpi/plain/messages/layout.hpp"

#include <algorithm>
#include <bit>

namespace wulf::mpi {

Layout::Layout(std::size_t bytes, std::size_t least, std::size_t beyond) : bytes_(bytes) {
  constexpr std::size_t kLine = 64;
  constexpr double kGolden = 0.618;  // spreads successive slots evenly
  step_ = (std::max<std::size_t>(bytes, 1) + kLine - 1) / kLine * kLine;
  const std::size_t enough = beyond > 0 ? (beyond / step_) + 1 : 1;
  slots_ = std::bit_ceil(std::max(enough, least));
  jump_ = static_cast<std::size_t>(static_cast<double>(slots_) * kGolden) | 1U;  // odd: it meets them all
}

std::vector<std::pair<int, int>> halves(int ranks, int pairs) {
  std::vector<std::pair<int, int>> all;
  const int half = ranks / 2;
  all.reserve(static_cast<std::size_t>(half));
  for (int i = 0; i < std::min(pairs, half); ++i) {
    all.emplace_back(i, half + i);
  }
  return all;
}

std::optional<double> overlap_share(double comm, double compute, double both) {
  const double most = std::min(comm, compute);
  if (most <= 0) {
    return std::nullopt;
  }
  return std::clamp((comm + compute - both) / most, 0.0, 1.0);
}

}  // namespace wulf::mpi
