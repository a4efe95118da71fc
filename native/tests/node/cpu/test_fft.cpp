#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <numbers>
#include <vector>

#include "node/cpu/brown.hpp"
#include "node/cpu/fft.hpp"
#include "tests/catch.hpp"

namespace {

using namespace wulf::node;

/// The largest distance of an FFT of `n` random numbers from the sum that defines it, by the largest number.
double fft_error(std::size_t n) {
  std::vector<Complex> in(n);
  std::vector<Complex> out(n);
  std::vector<Complex> other(n);
  std::vector<Complex> roots(n);
  std::vector<double> random(2 * n);
  brown_reset(random);
  for (std::size_t i = 0; i < n; ++i) {
    in[i] = {random[2 * i] - 1.5, random[(2 * i) + 1] - 1.5};
  }
  const std::vector<Complex> before = in;
  fft_roots(roots);
  fft(in, out, other, roots);
  CHECK(std::memcmp(in.data(), before.data(), n * sizeof(Complex)) == 0);
  double worst = 0;
  double largest = 0;
  for (std::size_t k = 0; k < n; ++k) {
    std::complex<double> sum = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const double turns = static_cast<double>(j * k % n) / static_cast<double>(n);
      sum += std::complex<double>(in[j].re, in[j].im) * std::polar(1.0, -2 * std::numbers::pi * turns);
    }
    worst = std::max(worst, std::abs(sum - std::complex<double>(out[k].re, out[k].im)));
    largest = std::max(largest, std::abs(sum));
  }
  return worst / largest;
}

TEST_CASE("the FFT is the discrete Fourier transform") {
  for (std::size_t n = 1; n <= 512; n *= 2) {
    INFO(n);
    CHECK(fft_error(n) < 1e-13);
  }
}

}  // namespace
