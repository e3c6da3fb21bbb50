/*
 * Strings, each stored once, one after the other with their NULs, in memory of fixed reach. An
 * offset names a string; the first string of a trace is empty.
 */
#ifndef BASE_STRING_POOL_H
#define BASE_STRING_POOL_H

#include "base/hash_slots.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Makes the first `size` bytes of the pool's memory usable; 0 or -errno. */
typedef int string_pool_reserve_fn(void *arg, size_t size);

struct string_pool {
	char *memory; /* the caller's */
	size_t size, max_size;
	string_pool_reserve_fn *reserve; /* NULL: all of the memory is usable */
	void *arg;
	struct node_table found; /* offsets */
	uint32_t max_nr;
};

/* An empty pool for at most max_nr strings. */
void string_pool_init(struct string_pool *pool, char *memory, size_t max_size, uint32_t max_nr);
void string_pool_fini(struct string_pool *pool);

/* false: the pool is full, or its memory was refused. */
bool string_pool_put(struct string_pool *pool, const char *string, uint32_t *offset);
/* The same for one that is there; false: it is not. */
bool string_pool_find(const struct string_pool *pool, const char *string, uint32_t *offset);

#endif
