/* A random chase as one would write it by hand: every load needs the last one's value.
 *
 *     chase BYTES SECONDS [huge]     prints the median latency of a load [s]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "timing.h"

enum { LINE = 64 };

static uint64_t state = 88172645463325252ULL;

static uint64_t draw(void) { /* xorshift64 (Marsaglia, 2003) */
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

/* One cycle through all lines (Sattolo, 1986). */
static void **cycle(char *memory, size_t lines) {
  size_t *order = malloc(lines * sizeof(*order));
  if (!order) {
    return NULL;
  }
  for (size_t i = 0; i < lines; ++i) {
    order[i] = i;
  }
  for (size_t i = lines - 1; i > 0; --i) {
    const size_t j = draw() % i;
    const size_t other = order[i];
    order[i] = order[j], order[j] = other;
  }
  for (size_t i = 0; i < lines; ++i) {
    *(void **)(memory + order[i] * LINE) = memory + order[(i + 1) % lines] * LINE;
  }
  free(order);
  return (void **)memory;
}

int main(int argc, char **argv) {
  enum { MOST = 100000, UNROLLED = 16 };
  static double times[MOST];
  if (argc < 3) {
    return 2;
  }
  const size_t bytes = strtoull(argv[1], NULL, 10);
  const double seconds = strtod(argv[2], NULL);
  const size_t huge = 2u << 20, mapped = (bytes + huge - 1) / huge * huge + huge;
  char *mapping = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED) {
    return 1;
  }
  madvise(mapping, mapped, argc > 3 ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  char *memory = mapping + (huge - (uintptr_t)mapping % huge) % huge;
  memset(memory, 1, bytes);
  void **at = cycle(memory, bytes / LINE);
  if (!at) {
    return 1;
  }
  size_t loads = (bytes / LINE + UNROLLED - 1) / UNROLLED * UNROLLED; /* once round, and at least 0.1 ms */
  if (loads < 100000) {
    loads = 100000 / UNROLLED * UNROLLED;
  }
  if (loads > 1600000) {
    loads = 1600000;
  }
  size_t count = 0;
  const double end = now() + seconds;
  for (size_t i = 0; i < bytes / LINE && i < 4000000; ++i) { /* warm */
    at = *at;
  }
  for (double start = now(); count < 3 || (start < end && count < MOST); start = now()) {
    for (size_t i = 0; i < loads; i += UNROLLED) {
#define STEP at = *at;
      STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP
    }
    __asm__ volatile("" : "+r"(at) : : "memory");
    times[count++] = (now() - start) / (double)loads;
  }
  printf("%.9g\n", median(times, count));
  return 0;
}
