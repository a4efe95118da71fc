#pragma once

#include <cstddef>

// No header with code in it is included here: files compiled for wider instruction sets include this one, and
// the linker keeps one copy of an inline function, whichever file it is from.

namespace wulf::node {

using Pass = double (*)(double* a, const double* b, const double* c, double q, std::size_t count) noexcept;

inline constexpr std::size_t kPasses = 6;  ///< read, write, copy, scale, add, triad
inline constexpr std::size_t kGrain = 64;  ///< doubles; passes unroll so far

/// The passes compiled for one instruction set.
struct StreamPasses {
  const char* isa;
  Pass normal[kPasses];       // NOLINT: <array> has code
  Pass nontemporal[kPasses];  // NOLINT: <array> has code; null for read
};

extern const StreamPasses kStreamSse2;
extern const StreamPasses kStreamAvx2;
extern const StreamPasses kStreamAvx512;
extern const StreamPasses kStreamNeon;

}  // namespace wulf::node
