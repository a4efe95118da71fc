#include "node/time/clock_rate.hpp"

#include <algorithm>
#include <cstdint>

#include "core/time/clock.hpp"

namespace wulf::node {
namespace {

constexpr std::uint64_t kUnrolledAdds = 64;

/// `rounds` times kUnrolledAdds additions, each of which needs the last one's sum.
///
/// The summand stands in a register: Golden Cove and its successors add small immediates while renaming,
/// several a cycle.
void add(std::uint64_t rounds) noexcept {
  std::uint64_t sum = 0;
  const std::uint64_t one = 1;
  for (std::uint64_t i = 0; i < rounds; ++i) {
#ifdef __x86_64__
    // NOLINTNEXTLINE(hicpp-no-assembler): a compiler would add them up at once
    asm volatile(".rept 64\n\tadd %1, %0\n\t.endr" : "+r"(sum) : "r"(one));
#elif defined(__aarch64__)
    // NOLINTNEXTLINE(hicpp-no-assembler): as above
    asm volatile(".rept 64\n\tadd %0, %0, %1\n\t.endr" : "+r"(sum) : "r"(one));
#else
#error "no dependent additions for this architecture"
#endif
  }
}

}  // namespace

double dependent_adds_per_second() noexcept {
  constexpr std::uint64_t kRounds = 500;
  constexpr int kTries = 5;  // the fastest is the one that nothing interrupted
  Nanoseconds best = kSecond;
  for (int i = 0; i < kTries; ++i) {
    const Nanoseconds start = now();
    add(kRounds);
    best = std::min(best, std::max<Nanoseconds>(now() - start, 1));
  }
  return static_cast<double>(kRounds * kUnrolledAdds) / to_seconds(best);
}

}  // namespace wulf::node
