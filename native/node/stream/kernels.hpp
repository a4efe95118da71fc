#pragma once

#include "node/stream/passes.hpp"

// The passes for any vector type V, which has kLanes, set, load, add, multiply_add, store, stream (two
// vectors past the caches), fence and sum. One file for each instruction set includes this.

namespace wulf::node {
// NOLINTNEXTLINE(cert-dcl59-cpp,misc-anonymous-namespace-in-header): each file has its own instructions
namespace {

template <class V>
struct StreamCode {
  using T = typename V::Type;  // NOLINT(readability-redundant-typename): older compilers need it
  static constexpr std::size_t kPair = 2 * V::kLanes;

  /// a[i] = f(i) for all i, two vectors at a time.
  template <bool kPast, class F>
  static double fill(double* a, std::size_t count, F f) noexcept {
#pragma GCC unroll 2
    for (std::size_t i = 0; i < count; i += kPair) {
      const T first = f(i);
      const T second = f(i + V::kLanes);
      if constexpr (kPast) {
        V::stream(a + i, first, second);
      } else {
        V::store(a + i, first);
        V::store(a + i + V::kLanes, second);
      }
    }
    if constexpr (kPast) {
      V::fence();
    }
    return 0;
  }

  /// Eight sums, since an addition takes longer than a load.
  static double read(double*, const double* b, const double*, double, std::size_t count) noexcept {
    constexpr std::size_t kSums = 8;
    T sums[kSums];  // NOLINT: <array> has code
    for (T& sum : sums) {
      sum = V::set(0);
    }
    constexpr std::size_t kStep = kSums * V::kLanes;
    for (std::size_t i = 0; i < count; i += kStep) {
#pragma GCC unroll 8
      for (std::size_t j = 0; j < kSums; ++j) {
        sums[j] = V::add(sums[j], V::load(b + i + (j * V::kLanes)));
      }
    }
    double total = 0;
    for (const T& sum : sums) {
      total += V::sum(sum);
    }
    return total;
  }

  template <bool kPast>
  static double write(double* a, const double*, const double*, double q, std::size_t count) noexcept {
    const T value = V::set(q);
    return fill<kPast>(a, count, [value](std::size_t) { return value; });
  }

  template <bool kPast>
  static double copy(double* a, const double* b, const double*, double, std::size_t count) noexcept {
    return fill<kPast>(a, count, [b](std::size_t i) { return V::load(b + i); });
  }

  template <bool kPast>
  static double scale(double* a, const double* b, const double*, double q, std::size_t count) noexcept {
    const T factor = V::set(q);
    return fill<kPast>(a, count, [b, factor](std::size_t i) { return V::multiply(V::load(b + i), factor); });
  }

  template <bool kPast>
  static double add(double* a, const double* b, const double* c, double, std::size_t count) noexcept {
    return fill<kPast>(a, count, [b, c](std::size_t i) { return V::add(V::load(b + i), V::load(c + i)); });
  }

  template <bool kPast>
  static double triad(double* a, const double* b, const double* c, double q, std::size_t count) noexcept {
    const T factor = V::set(q);
    return fill<kPast>(a, count, [b, c, factor](std::size_t i) {
      return V::multiply_add(V::load(c + i), factor, V::load(b + i));
    });
  }
};

template <class V>
constexpr StreamPasses passes_of(const char* isa) {
  using C = StreamCode<V>;
  return {isa,
          {C::read, C::template write<false>, C::template copy<false>, C::template scale<false>,
           C::template add<false>, C::template triad<false>},
          {nullptr, C::template write<true>, C::template copy<true>, C::template scale<true>,
           C::template add<true>, C::template triad<true>}};
}

}  // namespace
}  // namespace wulf::node
