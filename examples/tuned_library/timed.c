/* timed [N [KEYS]]: seconds a search by libfind, in N sorted numbers; exits with 1 where a place is wrong. */

#define _POSIX_C_SOURCE 199309L

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "find.h"

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 1L << 24, count = argc > 2 ? atol(argv[2]) : 200000, i;
  uint32_t *sorted, *keys;
  size_t *places;
  uint64_t state = 1;
  double began, seconds;
  if (argc > 3 || n < 1 || n > 1L << 30 || count < 1 || count > 1L << 26) {
    fprintf(stderr, "usage: timed [N [KEYS]], N up to 2^30, KEYS up to 2^26\n");
    return 2;
  }
  sorted = (uint32_t *)malloc((size_t)n * sizeof *sorted);
  keys = (uint32_t *)malloc((size_t)count * sizeof *keys);
  places = (size_t *)calloc((size_t)count, sizeof *places);
  if (!sorted || !keys || !places) {
    fprintf(stderr, "timed: no memory for %ld numbers and %ld keys\n", n, count);
    return 2;
  }
  for (i = 0; i < n; ++i) sorted[i] = 2 * (uint32_t)i; /* so 2 k and 2 k - 1 have k below them */
  for (i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    keys[i] = (uint32_t)((state >> 32) % (2 * (uint64_t)n));
  }
  began = now();
  find(sorted, (size_t)n, keys, places, (size_t)count);
  seconds = (now() - began) / (double)count;
  for (i = 0; i < count; ++i) {
    if (places[i] != ((size_t)keys[i] + 1) / 2) {
      fprintf(stderr, "timed: %zu numbers are said to be below %u\n", places[i], keys[i]);
      return 1;
    }
  }
  printf("%.4e s a search in %ld numbers, %s\n", seconds, n, find_plan());
  free(sorted);
  free(keys);
  free(places);
  return 0;
}
