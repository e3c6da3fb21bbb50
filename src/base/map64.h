/* Numbers by 64-bit keys: an open-addressing hash table. */
#ifndef BASE_MAP64_H
#define BASE_MAP64_H

#include <stdint.h>

/* Together, for a look-up in a large table waits for one line of memory, and should for no more. */
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

/* UINT32_MAX: not there. */
uint32_t map64_get(const struct map64 *map, uint64_t key);
/* The number of a key, of which all in a map have one in order of appearance; UINT32_MAX: no
 * memory.
 */
uint32_t map64_number(struct map64 *map, uint64_t key);
/* Also instead of another value of the key; value is below UINT32_MAX. 0 or -ENOMEM. */
int map64_add(struct map64 *map, uint64_t key, uint32_t value);
/* Nothing happens where it is not there. */
void map64_remove(struct map64 *map, uint64_t key);

#endif
