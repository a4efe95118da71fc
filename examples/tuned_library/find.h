/* libfind: many places in one sorted array, several searches at a time: how many was chosen at the installation. */

#ifndef FIND_H
#define FIND_H

#include <stddef.h>
#include <stdint.h>

/* places[i] = how many of the n numbers, sorted upwards, are below keys[i]; of `count` keys. n is above 0. */
void find(const uint32_t *sorted, size_t n, const uint32_t *keys, size_t *places, size_t count);

/* "27 searches at a time, by the rates of this machine". */
const char *find_plan(void);

#endif
