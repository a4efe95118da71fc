#include "find.h"

#include "plan.h" /* written by plan.sh: GROUP, GROUP_SOURCE */

#define TEXT_OF(value) #value
#define TEXT(value) TEXT_OF(value)

/* The searches take their steps in turn: while one waits for memory, the others have work. All take equally many. */
static void find_together(const uint32_t *sorted, size_t n, const uint32_t *keys, size_t *places, size_t count) {
  const uint32_t *base[GROUP];
  size_t left = n, i;
  for (i = 0; i < count; ++i) base[i] = sorted;
  while (left > 1) {
    size_t half = left / 2;
    left -= half;
    for (i = 0; i < count; ++i) {
      base[i] += (base[i][half - 1] < keys[i]) * half;
      __builtin_prefetch(base[i] + (left > 1 ? left / 2 - 1 : 0));
    }
  }
  for (i = 0; i < count; ++i) places[i] = (size_t)(base[i] - sorted) + (*base[i] < keys[i]);
}

void find(const uint32_t *sorted, size_t n, const uint32_t *keys, size_t *places, size_t count) {
  size_t i;
  for (i = 0; i < count; i += GROUP) {
    find_together(sorted, n, keys + i, places + i, count - i < GROUP ? count - i : GROUP);
  }
}

const char *find_plan(void) { return TEXT(GROUP) " searches at a time, " GROUP_SOURCE; }
