#include "mpi/plain/time/spin.hpp"

#include <algorithm>
#include <limits>

namespace wulf::mpi {

double spin_rate() {
  constexpr std::int64_t kSteps = 100'000;
  constexpr int kTries = 10;
  Nanoseconds least = std::numeric_limits<Nanoseconds>::max();
  volatile std::uint64_t state = 1;
  for (int i = 0; i < kTries; ++i) {
    const Nanoseconds start = now();
    state = spin(kSteps, state);
    least = std::min(least, now() - start);
  }
  return static_cast<double>(kSteps) / to_seconds(std::max<Nanoseconds>(least, 1));
}

}  // namespace wulf::mpi
