#include "mpi/plain/time/windows.hpp"

#include <algorithm>

namespace wulf::mpi {
namespace {

/// Room for what a rank does between two calls: two readings of the clock, and a look at what came.
constexpr Nanoseconds kSlack = 5 * kMicrosecond;
/// So many times the first window; beyond, it is not room that lacks, but CPUs.
constexpr Nanoseconds kWidest = 16;

}  // namespace

Windows::Windows(Nanoseconds estimate, Nanoseconds tolerance)
    : window_((3 * estimate) + kSlack), widest_(kWidest * window_), tolerance_(tolerance) {}

int Windows::count(Nanoseconds lasting) const {
  constexpr Nanoseconds kMost = 1000;
  return static_cast<int>(std::clamp<Nanoseconds>(lasting / window_, 1, kMost));
}

void Windows::take(Nanoseconds start, const std::vector<Call>& calls) {
  int invalid = 0;
  Nanoseconds longest = 0;
  for (const Call& call : calls) {
    const bool late = call.last_start > start + tolerance_;
    const bool overrun = call.last_end > start + window_;
    late_ += late ? 1 : 0;
    overrun_ += overrun ? 1 : 0;
    if (late || overrun) {
      ++invalid;
    } else {
      times_.push_back(to_seconds(call.last_end - start));
      skews_.push_back(to_seconds(call.last_start - std::min(start, call.first_start)));
      spent_.push_back(to_seconds(call.spent));
      longest = std::max(longest, call.last_end - start);
    }
    start += window_;
  }
  constexpr int kFew = 10;
  if (invalid * kFew > static_cast<int>(calls.size())) {
    window_ = std::min(2 * window_, widest_);
  } else if (invalid == 0 && 4 * (longest + kSlack) < window_) {
    window_ = 2 * (longest + kSlack);
  }
}

}  // namespace wulf::mpi
