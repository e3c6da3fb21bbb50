/*
 * A pool of distinct strings. They are stored one after the other with their NULs, in memory of
 * fixed size. An offset identifies a string; the first string of a trace is empty.
 */
#ifndef BASE_STRING_POOL_H
#define BASE_STRING_POOL_H

#include "base/hash_slots.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the first `size` bytes of the pool's memory usable. Returns 0 or -errno. */
typedef int string_pool_reserve_fn(void *arg, size_t size);

struct string_pool {
	char *memory; /* memory of the caller */
	size_t size, max_size;
	string_pool_reserve_fn *reserve; /* NULL: all of the memory is usable */
	void *arg;
	struct hash_slots found; /* offsets */
	uint32_t max_nr;
};

/* An empty pool for at most max_nr strings. */
void string_pool_init(struct string_pool *pool, char *memory, size_t max_size, uint32_t max_nr);
void string_pool_fini(struct string_pool *pool);

/*
 * Adds a string unless the pool contains it. Returns false if the pool is full or its memory was
 * refused.
 */
bool string_pool_put(struct string_pool *pool, const char *string, uint32_t *offset);
/* Finds a string. Returns false if the pool does not contain it. */
bool string_pool_find(const struct string_pool *pool, const char *string, uint32_t *offset);

#endif
