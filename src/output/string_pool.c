#include "output/string_pool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define FIRST_SLOTS 1024

void string_pool_fini(struct string_pool *pool)
{
	free(pool->slots);
	pool->slots = NULL;
}

static uint32_t string_hash(const char *string, size_t size)
{
	return (uint32_t)XXH3_64bits(string, size);
}

/* The slot of the string, or the free one where it belongs. */
static uint32_t *slot_find(const struct string_pool *pool, const char *string, size_t size)
{
	uint32_t i = string_hash(string, size) & (pool->nr_slots - 1);

	for (; pool->slots[i]; i = (i + 1) & (pool->nr_slots - 1)) {
		size_t at = pool->slots[i] - 1;

		if (pool->size - at > size && !memcmp(pool->memory + at, string, size) &&
		    !pool->memory[at + size])
			break;
	}
	return &pool->slots[i];
}

static bool slots_grow(struct string_pool *pool)
{
	uint32_t nr = pool->nr_slots ? 2 * pool->nr_slots : FIRST_SLOTS;
	uint32_t *old = pool->slots, nr_old = pool->nr_slots;
	uint32_t *slots = calloc(nr, sizeof(*slots));

	if (!slots)
		return false;
	pool->slots = slots;
	pool->nr_slots = nr;
	for (uint32_t i = 0; i < nr_old; i++) {
		const char *string = pool->memory + old[i] - 1;

		if (old[i])
			*slot_find(pool, string, strlen(string)) = old[i];
	}
	free(old);
	return true;
}

int string_pool_init(struct string_pool *pool, char *memory, size_t max_size, uint32_t max_nr)
{
	*pool = (struct string_pool){
		.memory = memory,
		.max_size = max_size < UINT32_MAX ? max_size : UINT32_MAX - 1,
		.max_nr = max_nr,
	};
	return slots_grow(pool) ? 0 : -ENOMEM;
}

bool string_pool_find(const struct string_pool *pool, const char *string, uint32_t *offset)
{
	uint32_t slot = pool->nr_slots ? *slot_find(pool, string, strlen(string)) : 0;

	*offset = slot - 1;
	return slot;
}

bool string_pool_put(struct string_pool *pool, const char *string, uint32_t *offset)
{
	size_t size = strlen(string);
	uint32_t *slot;

	/* One slot is always free, where searching ends. */
	if (2 * pool->nr >= pool->nr_slots && !slots_grow(pool) && pool->nr + 1 == pool->nr_slots)
		return false;
	slot = slot_find(pool, string, size);
	if (!*slot) {
		if (pool->nr == pool->max_nr || size >= pool->max_size - pool->size ||
		    (pool->reserve && pool->reserve(pool->arg, pool->size + size + 1)))
			return false;
		memcpy(pool->memory + pool->size, string, size + 1);
		*slot = (uint32_t)pool->size + 1;
		pool->size += size + 1;
		pool->nr++;
	}
	*offset = *slot - 1;
	return true;
}
