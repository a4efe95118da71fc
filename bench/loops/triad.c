/* STREAM's triad as its benchmark writes it: what a compiler makes of the plain loop.
 *
 *     triad BYTES SECONDS      bytes of each array; prints the median rate [B/s], 24 bytes an element
 */
#include <stdio.h>
#include <stdlib.h>

#include "timing.h"

static void triad(double *restrict a, const double *restrict b, const double *restrict c, double factor, size_t n) {
  for (size_t i = 0; i < n; ++i) {
    a[i] = b[i] + factor * c[i];
  }
}

int main(int argc, char **argv) {
  enum { MOST = 100000 };
  static double rates[MOST];
  if (argc != 3) {
    return 2;
  }
  const size_t n = strtoull(argv[1], NULL, 10) / sizeof(double);
  const double seconds = strtod(argv[2], NULL);
  double *a = aligned_alloc(64, (n * sizeof(double) + 63) / 64 * 64);
  double *b = aligned_alloc(64, (n * sizeof(double) + 63) / 64 * 64);
  double *c = aligned_alloc(64, (n * sizeof(double) + 63) / 64 * 64);
  if (!a || !b || !c) {
    return 1;
  }
  for (size_t i = 0; i < n; ++i) {
    a[i] = 0, b[i] = 1, c[i] = 2;
  }
  size_t rounds = 1;
  for (double spent = 0; spent < 1e-4; rounds *= 2) { /* a batch that the clock resolves */
    const double start = now();
    for (size_t i = 0; i < rounds; ++i) {
      triad(a, b, c, 3.0, n);
      __asm__ volatile("" : : "r"(a) : "memory");
    }
    spent = now() - start;
    if (spent >= 1e-4) {
      break;
    }
  }
  size_t count = 0;
  const double end = now() + seconds;
  for (double start = now(); count < 3 || (start < end && count < MOST); start = now()) {
    for (size_t i = 0; i < rounds; ++i) {
      triad(a, b, c, 3.0, n);
      __asm__ volatile("" : : "r"(a) : "memory");
    }
    rates[count++] = (double)rounds * 3 * sizeof(double) * (double)n / (now() - start);
  }
  printf("%.9g\n", median(rates, count));
  return 0;
}
