#include "node/stream.hpp"

#include <cstring>

namespace wulf::node {
namespace {

double libc_copy(double* a, const double* b, const double* /*c*/, double /*q*/, std::size_t count) noexcept {
  std::memcpy(a, b, count * sizeof(double));
  return 0;
}

}  // namespace

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
  constexpr std::size_t kSkew = 1344;   // 21 lines: no two arrays' places in a page come near each other
  constexpr std::size_t kPiece = 8192;  // doubles: long enough that starting a pass costs nothing
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
