#include "node/cpu/fft.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace wulf::node {
namespace {

/// −i times a number.
constexpr Complex turned(Complex a) noexcept { return {a.im, -a.re}; }

/// One stage: `from` holds `stride` interleaved sequences of `length` numbers; half of each with the other.
void pairs(const Complex* from, Complex* to, std::size_t length, std::size_t stride,
           const Complex* roots) noexcept {
  const std::size_t half = length / 2;
  for (std::size_t p = 0; p < half; ++p) {
    const Complex root = roots[p * stride];
    for (std::size_t q = 0; q < stride; ++q) {
      const Complex a = from[q + (stride * p)];
      const Complex b = from[q + (stride * (p + half))];
      to[q + (stride * 2 * p)] = a + b;
      to[q + (stride * ((2 * p) + 1))] = (a - b) * root;
    }
  }
}

/// Four quarters at once: two stages of pairs, for three products instead of four.
void fours(const Complex* from, Complex* to, std::size_t length, std::size_t stride,
           const Complex* roots) noexcept {
  const std::size_t quarter = length / 4;
  for (std::size_t p = 0; p < quarter; ++p) {
    const Complex root1 = roots[p * stride];
    const Complex root2 = roots[2 * p * stride];
    const Complex root3 = roots[3 * p * stride];
    const Complex* source = from + (stride * p);
    Complex* target = to + (stride * 4 * p);
    for (std::size_t q = 0; q < stride; ++q) {
      const Complex a = source[q];
      const Complex b = source[q + (stride * quarter)];
      const Complex c = source[q + (stride * 2 * quarter)];
      const Complex d = source[q + (stride * 3 * quarter)];
      const Complex sum = a + c;
      const Complex difference = a - c;
      const Complex other_sum = b + d;
      const Complex other_difference = turned(b - d);
      target[q] = sum + other_sum;
      target[q + stride] = (difference + other_difference) * root1;
      target[q + (2 * stride)] = (sum - other_sum) * root2;
      target[q + (3 * stride)] = (difference - other_difference) * root3;
    }
  }
}

/// How many stages n needs.
std::size_t stages(std::size_t n) noexcept {
  std::size_t count = 0;
  for (std::size_t length = n; length > 1; length /= length >= 4 ? 4 : 2) {
    ++count;
  }
  return count;
}

}  // namespace

void fft_roots(std::span<Complex> roots) {
  const double step = -2 * std::numbers::pi / static_cast<double>(roots.size());
  for (std::size_t k = 0; k < roots.size(); ++k) {
    const double angle = step * static_cast<double>(k);
    roots[k] = {std::cos(angle), std::sin(angle)};
  }
}

void fft(std::span<const Complex> in, std::span<Complex> out, std::span<Complex> other,
         std::span<const Complex> roots) noexcept {
  const std::size_t count = stages(in.size());
  if (count == 0) {
    out[0] = in[0];
    return;
  }
  // the stages write to and fro, and the last one to `out`
  const std::array targets{out.data(), other.data()};
  const Complex* from = in.data();
  std::size_t stride = 1;
  std::size_t length = in.size();
  for (std::size_t stage = 0; stage < count; ++stage) {
    Complex* to = targets[(count - 1 - stage) % 2];
    const std::size_t radix = length >= 4 ? 4 : 2;
    if (radix == 4) {
      fours(from, to, length, stride, roots.data());
    } else {
      pairs(from, to, length, stride, roots.data());
    }
    from = to;
    length /= radix;
    stride *= radix;
  }
}

}  // namespace wulf::node
