#include "node/stream/stream.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "node/time/timing.hpp"

namespace wulf::node {
namespace {

constexpr std::size_t kLine = 64;

double libc_copy(double* a, const double* b, const double* /*c*/, double /*q*/, std::size_t count) noexcept {
  std::memcpy(a, b, count * sizeof(double));
  return 0;
}

/// The time of the fastest of some tries at triad: nothing interrupted that one.
Nanoseconds time_triad(const StreamPasses& passes, std::vector<double>& memory) {
  constexpr int kTries = 20;
  constexpr int kRepeats = 50;
  constexpr std::size_t kCount = 1024;
  auto* place = memory.data();
  const std::size_t skip = (kLine - (reinterpret_cast<std::uintptr_t>(place) % kLine)) % kLine;
  place += skip / sizeof(double);  // NOLINT(bugprone-sizeof-expression,cert-arr39-c): bytes become doubles
  const Pass pass = passes.normal[kPasses - 1];
  Nanoseconds best = kSecond;
  for (int i = 0; i < kTries; ++i) {
    const Nanoseconds start = now();
    for (int j = 0; j < kRepeats; ++j) {
      pass(place, place + kCount, place + (2 * kCount), 1, kCount);
      keep_memory();
    }
    best = std::min(best, now() - start);
  }
  return best;
}

const StreamPasses& try_all() {
  std::vector<double> memory(4096, 1.0);
  const StreamPasses* fastest = stream_passes().front();
  Nanoseconds least = time_triad(*fastest, memory);
  for (const StreamPasses* passes : stream_passes()) {
    const Nanoseconds time = time_triad(*passes, memory);
    if (time < least) {
      fastest = passes;
      least = time;
    }
  }
  return *fastest;
}

}  // namespace

const StreamPasses& fastest_passes() {
  static const StreamPasses& fastest = try_all();
  return fastest;
}

const std::vector<StreamKernel>& stream_kernels() {
  static const std::vector<StreamKernel> kKernels{
      {"read", 0, 1, 0}, {"write", 1, 0, 1}, {"copy", 2, 1, 1},         {"scale", 3, 1, 1},
      {"add", 4, 2, 1},  {"triad", 5, 2, 1}, {"memcpy", kMemcpy, 1, 1},
  };
  return kKernels;
}

std::vector<const StreamPasses*> stream_passes() {
#ifdef __x86_64__
  __builtin_cpu_init();
  std::vector<const StreamPasses*> list{&kStreamSse2};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    list.push_back(&kStreamAvx2);
  }
  if (__builtin_cpu_supports("avx512f")) {
    list.push_back(&kStreamAvx512);
  }
  return list;
#elif defined(__aarch64__)
  return {&kStreamNeon};
#else
#error "no kernels for this architecture"
#endif
}

Pass stream_pass(const StreamPasses& passes, const StreamKernel& kernel, bool nontemporal) {
  if (kernel.pass == kMemcpy) {
    return libc_copy;
  }
  return nontemporal ? passes.nontemporal[kernel.pass] : passes.normal[kernel.pass];
}

double counted_bytes(const StreamKernel& kernel) {
  return static_cast<double>(kernel.arrays() * sizeof(double));
}

std::optional<double> traffic_bytes(const StreamKernel& kernel, bool nontemporal, bool cached) {
  if (kernel.pass == kMemcpy && !cached) {
    return std::nullopt;
  }
  const bool allocates = !nontemporal && !cached;
  return static_cast<double>((kernel.arrays() + (allocates ? kernel.writes : 0)) * sizeof(double));
}

StreamLayout StreamLayout::plan(const StreamKernel& kernel, std::size_t share) {
  constexpr std::size_t kPage = 4096;
  constexpr std::size_t kSkew = 1344;        // 21 lines: no two arrays' places in a page come near each other
  constexpr std::size_t kPiece = 1U << 16U;  // doubles: long enough that starting a pass costs nothing
  const std::size_t most = share / sizeof(double);
  StreamLayout layout;
  const bool whole = kernel.pass == kMemcpy || most <= kPiece;  // the C library chooses by the length
  const std::size_t pieces = whole ? 1 : (most + kPiece - 1) / kPiece;
  layout.count = most / pieces / kGrain * kGrain * pieces;
  layout.pieces = layout.count > 0 ? pieces : 0;
  const std::size_t length = ((layout.count * sizeof(double)) + kPage - 1) / kPage * kPage;
  for (std::size_t i = 0; i < kernel.arrays(); ++i) {
    layout.places.at(i) = i * (length + kSkew);
  }
  layout.bytes = layout.places.at(kernel.arrays() - 1) + (layout.count * sizeof(double));
  return layout;
}

}  // namespace wulf::node
