/* A tiled matrix multiply with everything to choose: what `python -m bench.search.tiles` records a grid of.

     tiled ORDER TI TJ TK N...     C += A B of doubles, for each N; prints "N seconds", CPU time, the least of three

   ORDER is that of the three loops within a tile, a permutation of ijk; tiles are visited in the order i, k, j. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { REPEATS = 3 };

static int smaller(int a, int b) { return a < b ? a : b; }

#define LOOP(x, from, to) for (int x = from; x < to; ++x)
#define AT(matrix, row, column) matrix[(size_t)(row) * (size_t)n + (size_t)(column)]
#define STEP AT(c, i, j) += AT(a, i, k) * AT(b, k, j)
#define TILE(name, x, y, z)                                                                                        \
  static void name(int n, const int *lo, const int *hi, const double *restrict a, const double *restrict b,        \
                   double *restrict c) {                                                                           \
    LOOP(x, lo[#x[0] - 'i'], hi[#x[0] - 'i'])                                                                      \
    LOOP(y, lo[#y[0] - 'i'], hi[#y[0] - 'i']) LOOP(z, lo[#z[0] - 'i'], hi[#z[0] - 'i']) STEP;                      \
  }

TILE(ijk, i, j, k)
TILE(ikj, i, k, j)
TILE(jik, j, i, k)
TILE(jki, j, k, i)
TILE(kij, k, i, j)
TILE(kji, k, j, i)

typedef void (*Tile)(int, const int *, const int *, const double *restrict, const double *restrict, double *restrict);

static const struct {
  const char *name;
  Tile run;
} ORDERS[] = {{"ijk", ijk}, {"ikj", ikj}, {"jik", jik}, {"jki", jki}, {"kij", kij}, {"kji", kji}};

static void multiply(Tile tile, const int *size, int n, const double *a, const double *b, double *c) {
  for (int i = 0; i < n; i += size[0])
    for (int k = 0; k < n; k += size[2])
      for (int j = 0; j < n; j += size[1]) {
        int lo[] = {i, j, k};
        int hi[] = {smaller(n, i + size[0]), smaller(n, j + size[1]), smaller(n, k + size[2])};
        tile(n, lo, hi, a, b, c);
      }
}

static double cpu_seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static int timed(Tile tile, const int *size, int n) {
  size_t count = (size_t)n * (size_t)n;
  double *a = malloc(count * sizeof *a), *b = malloc(count * sizeof *b), *c = calloc(count, sizeof *c);
  double best = 0;
  if (a == NULL || b == NULL || c == NULL) return 1;
  for (size_t at = 0; at < count; ++at) a[at] = b[at] = 1.0;
  for (int run = 0; run < REPEATS; ++run) {
    double began = cpu_seconds(), took;
    multiply(tile, size, n, a, b, c);
    took = cpu_seconds() - began;
    if (run == 0 || took < best) best = took;
  }
  for (size_t at = 0; at < count; ++at)
    if (c[at] != (double)REPEATS * n) return 1;
  printf("%d %.9f\n", n, best);
  free(a);
  free(b);
  free(c);
  return 0;
}

int main(int argc, char **argv) {
  if (argc < 6) return 2;
  int size[] = {atoi(argv[2]), atoi(argv[3]), atoi(argv[4])};
  for (size_t at = 0; at < sizeof ORDERS / sizeof *ORDERS; ++at)
    if (strcmp(argv[1], ORDERS[at].name) == 0 && size[0] > 0 && size[1] > 0 && size[2] > 0) {
      for (int n = 5; n < argc; ++n)
        if (timed(ORDERS[at].run, size, atoi(argv[n]))) return 1;
      return 0;
    }
  return 2;
}
