#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "node/cpu/fma_kernels.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;

/// A kernel's sums for a = 1.5, b, c and a start of 2, after `rounds`: those of all lanes, one after the
/// other.
template <typename T>
std::vector<T> fma_sums(const FmaKernel& kernel, T b, T c, std::uint64_t rounds) {
  alignas(kVectorStride) std::array<std::byte, 4 * kVectorStride> in{};
  alignas(kVectorStride) std::array<std::byte, kMostSums * kVectorStride> out{};
  const std::array<T, 4> values{static_cast<T>(1.5), b, c, static_cast<T>(2)};
  for (std::size_t i = 0; i < in.size(); i += sizeof(T)) {
    std::memcpy(&in[i], &values[i / kVectorStride], sizeof(T));
  }
  kernel.run(in.data(), out.data(), rounds);
  std::vector<T> sums(kernel.sums * lanes(kernel));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const std::size_t place = (i / lanes(kernel) * kVectorStride) + (i % lanes(kernel) * sizeof(T));
    std::memcpy(&sums[i], &out[place], sizeof(T));
  }
  return sums;
}

/// Each sum gets a · b and a · c by turns: exact, since all are few halves.
template <typename T>
void check_fused(const FmaKernel& kernel) {
  constexpr std::uint64_t kRounds = 3;
  const double times = static_cast<double>(kRounds * kFmaSteps) / static_cast<double>(2 * kernel.sums);
  for (const T sum : fma_sums<T>(kernel, static_cast<T>(0.5), static_cast<T>(4), kRounds)) {
    CHECK(static_cast<double>(sum) == 2 + (times * 1.5 * 4.5));
  }
}

/// Each sum is multiplied by a, and b is added: 96 / 12 / 2 times a round.
template <typename T>
void check_plain(const FmaKernel& kernel) {
  T expected = 2;
  for (std::size_t i = 0; i < kFmaSteps / kernel.sums / 2; ++i) {
    expected = (expected * static_cast<T>(1.5)) + static_cast<T>(0.5);
  }
  for (const T sum : fma_sums<T>(kernel, static_cast<T>(0.5), 0, 1)) {
    CHECK(std::abs((sum / expected) - 1) < 1e-6);
  }
}

TEST_CASE("vector kernels multiply and add in every lane of every sum, as often as they say") {
  CHECK(!fma_kernels().empty());
  for (const FmaKernel& kernel : fma_kernels()) {
    if (!kernel.supported()) {
      continue;
    }
    INFO(kernel.isa << " " << kernel.type);
    CHECK(flops(kernel) == static_cast<double>(kFmaSteps * lanes(kernel) * (kernel.fused ? 2 : 1)));
    if (kernel.fused) {
      kernel.type == "float" ? check_fused<float>(kernel) : check_fused<double>(kernel);
    } else {
      kernel.type == "float" ? check_plain<float>(kernel) : check_plain<double>(kernel);
    }
  }
}

}  // namespace
