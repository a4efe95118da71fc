#pragma once

#include <cstddef>
#include <span>

namespace wulf::node {

/// A complex number whose product is four multiplications: std::complex's looks for infinities besides.
struct Complex {
  double re = 0;
  double im = 0;
};

[[nodiscard]] constexpr Complex operator+(Complex a, Complex b) noexcept {
  return {a.re + b.re, a.im + b.im};
}
[[nodiscard]] constexpr Complex operator-(Complex a, Complex b) noexcept {
  return {a.re - b.re, a.im - b.im};
}
[[nodiscard]] constexpr Complex operator*(Complex a, Complex b) noexcept {
  return {(a.re * b.re) - (a.im * b.im), (a.re * b.im) + (a.im * b.re)};
}

/// roots[k] = exp(−2πi·k / n) for all k < n, n their number.
void fft_roots(std::span<Complex> roots);

/// The discrete Fourier transform, out[k] = Σ in[j]·exp(−2πi·jk / n), of n = a power of two, at least 1. `in`
/// stays as it is; `other` is scratch; all are of n, and none overlaps. Stockham's order (no bit reversal),
/// four at a time, and two where n is no power of four (C. Van Loan, Computational Frameworks for the FFT,
/// 1992, section 1.7).
void fft(std::span<const Complex> in, std::span<Complex> out, std::span<Complex> other,
         std::span<const Complex> roots) noexcept;

}  // namespace wulf::node
