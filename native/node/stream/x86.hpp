#pragma once

#include <immintrin.h>

#include "node/stream/kernels.hpp"

// What the vectors of x86 have in common, given Lanes: Type, kLanes, set, load, multiply_add, store, and
// stream of one vector.

namespace wulf::node {
// NOLINTNEXTLINE(cert-dcl59-cpp,misc-anonymous-namespace-in-header): each file has its own instructions
namespace {

template <class Lanes>
struct X86Vector : Lanes {
  using Type = typename Lanes::Type;  // NOLINT(readability-redundant-typename): older compilers need it
  static Type add(Type x, Type y) noexcept { return x + y; }
  static Type multiply(Type x, Type y) noexcept { return x * y; }
  static void stream(double* at, Type first, Type second) noexcept {
    Lanes::stream_one(at, first);
    Lanes::stream_one(at + Lanes::kLanes, second);
  }
  static void fence() noexcept { _mm_sfence(); }
  static double sum(Type value) noexcept {
    double total = 0;
    for (std::size_t i = 0; i < Lanes::kLanes; ++i) {
      total += value[i];
    }
    return total;
  }
};

}  // namespace
}  // namespace wulf::node
