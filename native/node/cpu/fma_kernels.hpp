#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace wulf::node {

/// Bytes from one vector to the next, of what goes into a kernel and comes out: the widest there is.
inline constexpr std::size_t kVectorStride = 64;

/// Instructions on whole vectors a round.
inline constexpr std::size_t kFmaSteps = 96;

/// The sums of a kernel are at most so many.
inline constexpr std::size_t kMostSums = 24;

/// One loop of vector multiply-adds on `sums` registers in turn, more than any CPU has under way at once
/// (latency times the number begun a cycle: 10 on x86, 18 on A64FX).
struct FmaKernel {
  std::string_view isa;   ///< sse2, avx2, avx512 or neon
  std::string_view type;  ///< float or double
  std::size_t width;      ///< bytes a vector
  std::size_t sums;
  bool fused;  ///< an instruction multiplies and adds; else it does one of both
  /// `in`: the vectors a, b, c and the sums' start, kVectorStride apart. Every sum gets a · b and a · c in
  /// turn (not fused: becomes sum · a + b), kFmaSteps / sums times a round. `out`: every sum. rounds > 0.
  void (*run)(const std::byte* in, std::byte* out, std::uint64_t rounds) noexcept;
  bool (*supported)() noexcept;
};

/// The kernels of this architecture, the widest first.
[[nodiscard]] std::span<const FmaKernel> fma_kernels() noexcept;

/// Floating-point operations a round.
[[nodiscard]] double flops(const FmaKernel& kernel) noexcept;

/// How many numbers a vector holds.
[[nodiscard]] std::size_t lanes(const FmaKernel& kernel) noexcept;

}  // namespace wulf::node
