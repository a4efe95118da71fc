/* A blocked matrix multiply whose block fits the caches of the machine that it runs on, as the rates file has them.

     matmul [N [ROUNDS]]     multiplies two N x N matrices of doubles

   Times three ways in turn, in another order every round: the textbook's three loops; blocks of a size that is fixed
   when the program is compiled; and blocks whose size comes from mem.l1.size and mem.l2.size. Fixed and tuned are the
   same code. Prints medians with 95 % intervals, and exits with 1 if the products differ. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "wulf_rates.h"

enum { WAYS = 3, MAX_ROUNDS = 999, UNROLL = 4, LINE_DOUBLES = 8 };

/* Rows and columns of the block of B that is kept in the cache. */
struct block {
  size_t rows, columns;
};

/* Three blocks of 32 x 32 doubles take 24 KiB: the first level of nearly every processor of the last twenty years. */
static const struct block FIXED = {32, 32};

static size_t at_least(size_t value, size_t least) { return value < least ? least : value; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* The block that fills half of both caches: a block of B stays in the second level while all rows of A pass, and what
   the innermost loop touches (four rows of it, one of C) in the first. Half, since the caches hold other things, too. */
static struct block block_for(double l1, double l2) {
  struct block chosen;
  size_t columns = (size_t)(l1 / 2 / sizeof(double) / (UNROLL + 1));
  chosen.columns = at_least(columns / LINE_DOUBLES * LINE_DOUBLES, LINE_DOUBLES);
  chosen.rows = at_least((size_t)(l2 / 2 / sizeof(double)) / chosen.columns / UNROLL * UNROLL, UNROLL);
  return chosen;
}

/* The tuned block, or the fixed one where there are no rates; says which, and why. */
static struct block choose(void) {
  struct wulf_rate l1, l2;
  struct block chosen;
  int status = wulf_rates_get("mem.l1.size", &l1);
  if (status == WULF_RATES_OK) status = wulf_rates_get("mem.l2.size", &l2);
  if (status != WULF_RATES_OK) {
    printf("no rates (%s): the tuned block is the fixed one\n", wulf_rates_error(status));
    return FIXED;
  }
  chosen = block_for(l1.value, l2.value);
  printf("mem.l1.size %.0f B (%s), mem.l2.size %.0f B (%s), %.0f s old: block %zu x %zu\n", l1.value, l1.provenance,
         l2.value, l2.provenance, l2.age, chosen.rows, chosen.columns);
  return chosen;
}

/* C = A B by the textbook. */
static void naive(size_t n, const double *a, const double *b, double *c) {
  size_t i, j, k;
  for (i = 0; i < n; ++i) {
    for (j = 0; j < n; ++j) {
      double sum = 0;
      for (k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  }
}

/* One row of C, over one block of B: `count` columns; four rows of B at a time, so that C is loaded a quarter as often. */
static void row(size_t n, size_t rows, size_t count, const double *a, const double *b, double *restrict c) {
  size_t j, k = 0;
  for (; k + UNROLL <= rows; k += UNROLL) {
    const double a0 = a[k], a1 = a[k + 1], a2 = a[k + 2], a3 = a[k + 3];
    const double *b0 = b + k * n, *b1 = b0 + n, *b2 = b1 + n, *b3 = b2 + n;
    for (j = 0; j < count; ++j) c[j] += a0 * b0[j] + a1 * b1[j] + a2 * b2[j] + a3 * b3[j];
  }
  for (; k < rows; ++k) {
    for (j = 0; j < count; ++j) c[j] += a[k] * b[k * n + j];
  }
}

/* C = A B, one block of B after the other. */
static void blocked(size_t n, struct block block, const double *a, const double *b, double *c) {
  size_t i, j, k;
  memset(c, 0, n * n * sizeof *c);
  for (k = 0; k < n; k += block.rows) {
    for (j = 0; j < n; j += block.columns) {
      size_t rows = smaller(block.rows, n - k), columns = smaller(block.columns, n - j);
      for (i = 0; i < n; ++i) row(n, rows, columns, a + i * n + k, b + k * n + j, c + i * n + j);
    }
  }
}

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* How many values may be left out at either end, so that the rest spans the median with 95 % (binomial with 1/2). */
static int left_out(int count) {
  double probability = 1, below = 0;
  int i, out = -1;
  for (i = 0; i < count; ++i) probability /= 2;
  for (i = 0; i < count / 2; ++i) {
    below += probability;
    if (2 * below > 0.05) break;
    out = i;
    probability *= (double)(count - i) / (i + 1);
  }
  return out;
}

/* "name: median [low, high] unit"; sorts the values. */
static void report(const char *name, double *values, int count, const char *unit) {
  int out = left_out(count);
  double median;
  qsort(values, (size_t)count, sizeof *values, ascending);
  median = (values[(count - 1) / 2] + values[count / 2]) / 2;
  if (out < 0) {
    printf("%-16s %8.4f %s, of too few rounds for an interval\n", name, median, unit);
  } else {
    printf("%-16s %8.4f %s [%.4f, %.4f]\n", name, median, unit, values[out], values[count - 1 - out]);
  }
}

static int differ(size_t n, const double *one, const double *other) {
  size_t i;
  for (i = 0; i < n * n; ++i) {
    if (fabs(one[i] - other[i]) > 1e-12 * (double)n) return 1; /* elements are in [0, 1): sums of n below n */
  }
  return 0;
}

static double *matrix(size_t n) {
  double *made = (double *)malloc(n * n * sizeof *made);
  if (!made) {
    fprintf(stderr, "matmul: no memory for matrices of %zu x %zu\n", n, n);
    exit(2);
  }
  return made;
}

/* Times every way in every round, in an order that is drawn anew each time; returns whether the products differ. */
static int compete(size_t n, int rounds, struct block tuned, double times[WAYS][MAX_ROUNDS]) {
  double *a = matrix(n), *b = matrix(n), *product[WAYS];
  int round, place, way, wrong;
  size_t i;
  for (way = 0; way < WAYS; ++way) product[way] = matrix(n);
  for (i = 0; i < n * n; ++i) {
    a[i] = rand() / (RAND_MAX + 1.0);
    b[i] = rand() / (RAND_MAX + 1.0);
  }
  for (round = -1; round < rounds; ++round) { /* the first one warms up */
    int order[WAYS] = {0, 1, 2};
    for (place = WAYS - 1; place > 0; --place) {
      int other = rand() % (place + 1), kept = order[place];
      order[place] = order[other];
      order[other] = kept;
    }
    for (place = 0; place < WAYS; ++place) {
      double began = now();
      way = order[place];
      if (way == 0) naive(n, a, b, product[way]);
      if (way > 0) blocked(n, way == 1 ? FIXED : tuned, a, b, product[way]);
      if (round >= 0) times[way][round] = now() - began;
    }
  }
  wrong = differ(n, product[0], product[1]) || differ(n, product[0], product[2]);
  free(a);
  free(b);
  for (way = 0; way < WAYS; ++way) free(product[way]);
  return wrong;
}

int main(int argc, char **argv) {
  static double times[WAYS][MAX_ROUNDS], to_naive[MAX_ROUNDS], to_fixed[MAX_ROUNDS];
  long n = argc > 1 ? atol(argv[1]) : 1000, rounds = argc > 2 ? atol(argv[2]) : 11;
  int round;
  if (argc > 3 || n < 1 || n > 20000 || rounds < 1 || rounds > MAX_ROUNDS) {
    fprintf(stderr, "usage: matmul [N [ROUNDS]], N up to 20000, ROUNDS up to %d\n", MAX_ROUNDS);
    return 2;
  }
  if (compete((size_t)n, (int)rounds, choose(), times)) {
    fprintf(stderr, "matmul: the products differ\n");
    return 1;
  }
  for (round = 0; round < rounds; ++round) {
    to_naive[round] = times[0][round] / times[2][round];
    to_fixed[round] = times[1][round] / times[2][round];
  }
  printf("N = %ld, %ld rounds; medians with 95 %% intervals\n", n, rounds);
  report("naive", times[0], (int)rounds, "s");
  report("fixed", times[1], (int)rounds, "s");
  report("tuned", times[2], (int)rounds, "s");
  report("naive / tuned", to_naive, (int)rounds, "times");
  report("fixed / tuned", to_fixed, (int)rounds, "times");
  return 0;
}
