/* Numbers by 64-bit keys: an open-addressing hash table that only grows. */
#ifndef OUTPUT_MAP64_H
#define OUTPUT_MAP64_H

#include <stdint.h>

struct map64 {
	uint64_t *keys;
	uint32_t *values; /* + 1; 0: free */
	uint32_t nr, nr_slots, shift;
};

/* All zero is an empty map. */
void map64_fini(struct map64 *map);

/* UINT32_MAX: not there. */
uint32_t map64_get(const struct map64 *map, uint64_t key);
/* A key that is not there yet; value is below UINT32_MAX. 0 or -ENOMEM. */
int map64_add(struct map64 *map, uint64_t key, uint32_t value);

#endif
