/* A hash table with open addressing that maps 64-bit keys to 32-bit numbers. */
#ifndef BASE_MAP64_H
#define BASE_MAP64_H

#include <stdint.h>

/* Key and value are adjacent, so that a look-up in a large table waits for one cache line only. */
struct map64_slot {
	uint64_t key;
	uint32_t value; /* + 1; 0: free */
};

struct map64 {
	struct map64_slot *slots;
	uint32_t nr, nr_slots, shift;
};

/* All zero is an empty map. */
void map64_fini(struct map64 *map);

/* Returns the value of a key; UINT32_MAX: the map does not contain the key. */
uint32_t map64_get(const struct map64 *map, uint64_t key);
/*
 * Returns the number of a key. Keys are numbered in the order in which this function first sees
 * them. UINT32_MAX: no memory.
 */
uint32_t map64_number(struct map64 *map, uint64_t key);
/* Sets the value of a key, which must be below UINT32_MAX. Returns 0 or -ENOMEM. */
int map64_add(struct map64 *map, uint64_t key, uint32_t value);
/* Removes a key if the map contains it. */
void map64_remove(struct map64 *map, uint64_t key);

#endif
